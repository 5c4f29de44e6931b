//! Runs compiled expressions.
//!
//! One evaluator serves a client: it owns the stack and the text that `debug` produces, so that an
//! evaluation allocates nothing. It reads variables and never sets one.

use bytes::BufMut;

use super::code::{Binary, Code, Op};
use super::failure::EvalFailure;
use super::function::Function;
use crate::random::Generator;
use crate::script::value::Value;
use crate::script::variables::Variables;

/// Stack and output of evaluations.
#[derive(Clone, Debug, Default)]
pub struct Evaluator {
    stack: Vec<Value>,
    /// Lines that `debug` wrote.
    pub output: Vec<u8>,
}

/// Where an expression stands and what it may draw from.
#[derive(Debug)]
pub struct Context<'c> {
    /// The client's variables.
    pub variables: &'c Variables,
    /// The client's stream of random functions.
    pub generator: &'c mut Generator,
    /// Number of the script, from 0.
    pub script: usize,
    /// Number of the command, from 0.
    pub command: usize,
}

impl Evaluator {
    /// The value of an expression.
    #[inline]
    pub fn eval(&mut self, code: &Code, context: &mut Context<'_>) -> Result<Value, EvalFailure> {
        self.stack.clear();
        let mut at = 0;
        while let Some(op) = code.ops.get(at) {
            at += 1;
            match *op {
                Op::Push(value) => self.stack.push(value),
                Op::Load(slot) => self.stack.push(context.variables.value(slot)?),
                Op::Binary(operator) => {
                    let right = self.pop();
                    let left = self.pop();
                    self.stack.push(binary(operator, left, right)?);
                }
                Op::Is(constant) => {
                    let value = self.pop();
                    self.stack.push(Value::Bool(value == constant));
                }
                Op::Not => {
                    let value = self.pop();
                    let negated = match value {
                        Value::Null => Value::Null,
                        other => Value::Bool(!other.as_bool()?),
                    };
                    self.stack.push(negated);
                }
                Op::AndLeft(distance) => at += self.decided_by(false, distance)?,
                Op::OrLeft(distance) => at += self.decided_by(true, distance)?,
                Op::Truth => {
                    let value = self.pop();
                    if value != Value::Null {
                        value.as_bool()?;
                    }
                    self.stack.push(value);
                }
                Op::Unless(distance) => {
                    at += if self.pop().is_true() { 0 } else { distance as usize };
                }
                Op::Jump(distance) => at += distance as usize,
                Op::Call(function, count) => self.call(function, count as usize, context)?,
                Op::TooManyArguments => return Err(EvalFailure::TooManyArguments),
            }
        }
        Ok(self.pop())
    }

    #[inline]
    fn pop(&mut self) -> Value {
        // The parser emits no instruction without its operands.
        self.stack.pop().unwrap_or(Value::Null)
    }

    /// Leaves the left side of AND or OR on the stack and jumps if it decides, else drops it.
    fn decided_by(&mut self, deciding: bool, distance: u32) -> Result<usize, EvalFailure> {
        let left = self.pop();
        if left == Value::Null || left.as_bool()? == deciding {
            self.stack.push(left);
            return Ok(distance as usize);
        }
        Ok(0)
    }

    fn call(
        &mut self,
        function: Function,
        count: usize,
        context: &mut Context<'_>,
    ) -> Result<(), EvalFailure> {
        let first = self.stack.len().saturating_sub(count);
        let args = &self.stack[first..];
        let value = match function {
            Function::Debug => {
                let value = args.first().copied().unwrap_or(Value::Null);
                self.write_debug(value, context);
                value
            }
            _ if args.contains(&Value::Null) => Value::Null,
            Function::Mod => match *args {
                [left, right] => Binary::Mod.apply(left, right)?,
                _ => Value::Null,
            },
            other => other.call(args, context.generator)?,
        };
        self.stack.truncate(first);
        self.stack.push(value);
        Ok(())
    }

    /// Commands are counted from 1 here, and only here.
    fn write_debug(&mut self, value: Value, context: &Context<'_>) {
        let out = &mut self.output;
        out.put_slice(
            format!("debug(script={},command={}): ", context.script, context.command + 1)
                .as_bytes(),
        );
        match value {
            Value::Null => out.put_slice(b"null"),
            other => {
                out.put_slice(other.type_name().as_bytes());
                out.put_u8(b' ');
                other.write(out);
            }
        }
        out.put_u8(b'\n');
    }
}

#[inline]
fn binary(operator: Binary, left: Value, right: Value) -> Result<Value, EvalFailure> {
    if left == Value::Null || right == Value::Null {
        return Ok(Value::Null);
    }
    operator.apply(left, right)
}
