//! Runs compiled expressions.
//!
//! One evaluator serves a client: it owns the stack and the text that `debug` produces, so that an
//! evaluation allocates nothing. It reads variables and never sets one.

use std::ops::Range;

use bytes::BufMut;

use super::code::{Binary, Code, Op};
use super::failure::{EvalFailure, Evaluated};
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
    pub fn eval(&mut self, code: &Code, context: &mut Context<'_>) -> Evaluated {
        if self.stack.len() < code.depth {
            self.stack.resize(code.depth, Value::Null);
        }
        // The emitter has counted how deep the stack gets, and emits no instruction without its
        // operands; `top` is the number of values.
        let mut top = 0;
        let mut at = 0;
        while let Some(op) = code.ops.get(at) {
            at += 1;
            match *op {
                Op::Push(value) => {
                    self.stack[top] = value;
                    top += 1;
                }
                Op::Load(slot) => {
                    self.stack[top] = context.variables.value(slot)?;
                    top += 1;
                }
                Op::Binary(operator) => {
                    top -= 1;
                    let value = binary(operator, self.stack[top - 1], self.stack[top])?;
                    self.stack[top - 1] = value;
                }
                Op::BinaryPush(operator, right) => {
                    self.stack[top - 1] = binary(operator, self.stack[top - 1], right)?;
                }
                Op::BinaryLoad(operator, right) => {
                    let right = context.variables.value(right)?;
                    self.stack[top - 1] = binary(operator, self.stack[top - 1], right)?;
                }
                Op::LoadPush(operator, left, right) => {
                    let left = context.variables.value(left)?;
                    self.stack[top] = binary(operator, left, right)?;
                    top += 1;
                }
                Op::LoadLoad(operator, left, right) => {
                    let left = context.variables.value(left)?;
                    let right = context.variables.value(right)?;
                    self.stack[top] = binary(operator, left, right)?;
                    top += 1;
                }
                Op::Call(function, count) => {
                    let first = top - count as usize;
                    let value = self.call(function, first..top, context)?;
                    self.stack[first] = value;
                    top = first + 1;
                }
                Op::Unless(distance) => {
                    top -= 1;
                    at += if self.stack[top].is_true() { 0 } else { distance as usize };
                }
                Op::Jump(distance) => at += distance as usize,
                Op::AndLeft(distance) | Op::OrLeft(distance) => {
                    let deciding = matches!(op, Op::OrLeft(_));
                    if truth(self.stack[top - 1])?.is_none_or(|left| left == deciding) {
                        at += distance as usize;
                    } else {
                        top -= 1;
                    }
                }
                Op::Truth => {
                    truth(self.stack[top - 1])?;
                }
                Op::Is(constant) => {
                    self.stack[top - 1] = Value::Bool(self.stack[top - 1] == constant);
                }
                Op::Not => {
                    let negated = truth(self.stack[top - 1])?.map(|truth| !truth);
                    self.stack[top - 1] = negated.map_or(Value::Null, Value::Bool);
                }
                Op::TooManyArguments => return Err(EvalFailure::TooManyArguments.into()),
            }
        }
        Ok(self.stack[0])
    }

    #[inline]
    fn call(
        &mut self,
        function: Function,
        arguments: Range<usize>,
        context: &mut Context<'_>,
    ) -> Evaluated {
        let args = &self.stack[arguments];
        if function == Function::Debug {
            let value = args.first().copied().unwrap_or(Value::Null);
            self.write_debug(value, context);
            return Ok(value);
        }
        if args.iter().any(|value| matches!(value, Value::Null)) {
            return Ok(Value::Null);
        }
        function.call(args, context.generator)
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
                out.put_slice(other.kind().name().as_bytes());
                out.put_u8(b' ');
                other.write(out);
            }
        }
        out.put_u8(b'\n');
    }
}

/// A truth value, or nothing for NULL.
fn truth(value: Value) -> Evaluated<Option<bool>> {
    match value {
        Value::Null => Ok(None),
        other => other.as_bool().map(Some),
    }
}

#[inline]
fn binary(operator: Binary, left: Value, right: Value) -> Evaluated {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => operator.on_ints(left, right),
        (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
        _ => operator.apply(left, right),
    }
}
