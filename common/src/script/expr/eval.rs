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
use crate::script::packed::Packed;
use crate::script::value::Value;
use crate::script::variables::Variables;

/// Stack and output of evaluations.
#[derive(Clone, Debug, Default)]
pub struct Evaluator {
    stack: Vec<Packed>,
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
    pub fn eval(&mut self, code: &Code, context: &mut Context<'_>) -> Evaluated<Packed> {
        if self.stack.len() < code.depth {
            self.stack.resize(code.depth, Packed::NULL);
        }
        // The emitter has counted how deep the stack gets, and emits no instruction without its
        // operands; `top` is the number of values.
        let mut top = 0;
        let mut at = 0;
        while let Some(op) = code.ops.get(at) {
            at += 1;
            let (operator, left, right) = match *op {
                Op::Push(value) => {
                    self.stack[top] = value;
                    top += 1;
                    continue;
                }
                Op::Load(slot) => {
                    self.stack[top] = context.variables.value(slot)?;
                    top += 1;
                    continue;
                }
                Op::Binary(operator) => {
                    top -= 2;
                    (operator, self.stack[top], self.stack[top + 1])
                }
                Op::BinaryPush(operator, right) => {
                    top -= 1;
                    (operator, self.stack[top], right)
                }
                Op::BinaryLoad(operator, right) => {
                    top -= 1;
                    (operator, self.stack[top], context.variables.value(right)?)
                }
                Op::LoadPush(operator, left, right) => {
                    (operator, context.variables.value(left)?, right)
                }
                Op::LoadLoad(operator, left, right) => {
                    let left = context.variables.value(left)?;
                    (operator, left, context.variables.value(right)?)
                }
                Op::Call(function, count) => {
                    let first = top - count as usize;
                    self.stack[first] = self.call(function, first..top, context)?;
                    top = first + 1;
                    continue;
                }
                other => {
                    at += self.control(other, &mut top)?;
                    continue;
                }
            };
            self.stack[top] = binary(operator, left, right)?;
            top += 1;
        }
        Ok(self.stack[0])
    }

    /// Instructions that decide; gives how far to jump.
    fn control(&mut self, op: Op, top: &mut usize) -> Evaluated<usize> {
        let last = *top - usize::from(*top > 0);
        match op {
            Op::Jump(distance) => return Ok(distance as usize),
            Op::Unless(distance) => {
                *top = last;
                let holds = self.stack[last].value().is_true();
                return Ok(if holds { 0 } else { distance as usize });
            }
            Op::AndLeft(distance) | Op::OrLeft(distance) => {
                let deciding = matches!(op, Op::OrLeft(_));
                if truth(self.stack[last])?.is_none_or(|left| left == deciding) {
                    return Ok(distance as usize);
                }
                *top = last;
            }
            Op::Is(constant) => {
                self.stack[last] = Packed::bool(self.stack[last].value() == constant);
            }
            Op::Not => {
                let negated = truth(self.stack[last])?.map(|truth| !truth);
                self.stack[last] = negated.map_or(Packed::NULL, Packed::bool);
            }
            Op::TooManyArguments => return Err(EvalFailure::TooManyArguments.into()),
            // Behind the right side of AND and OR; all others are the caller's.
            _ => {
                truth(self.stack[last])?;
            }
        }
        Ok(0)
    }

    #[inline]
    fn call(
        &mut self,
        function: Function,
        arguments: Range<usize>,
        context: &mut Context<'_>,
    ) -> Evaluated<Packed> {
        let args = &self.stack[arguments];
        if let Some(drawn) = function.random_ints(args, context.generator) {
            return Ok(drawn);
        }
        if function == Function::Debug {
            let value = args.first().copied().unwrap_or(Packed::NULL);
            self.write_debug(value.value(), context);
            return Ok(value);
        }
        if args.iter().any(|value| value.is_null()) {
            return Ok(Packed::NULL);
        }
        function.call(args, context.generator).map(Packed::from)
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
fn truth(value: Packed) -> Evaluated<Option<bool>> {
    match value.value() {
        Value::Null => Ok(None),
        other => other.as_bool().map(Some),
    }
}

#[inline]
fn binary(operator: Binary, left: Packed, right: Packed) -> Evaluated<Packed> {
    let (Some(first), Some(second)) = (left.as_int(), right.as_int()) else {
        return otherwise(operator, left, right);
    };
    operator.on_ints(first, second).ok_or_else(|| operator.failure_on_ints(second).into())
}

/// An operator on anything but two integers.
fn otherwise(operator: Binary, left: Packed, right: Packed) -> Evaluated<Packed> {
    if left.is_null() || right.is_null() {
        return Ok(Packed::NULL);
    }
    operator.apply(left.value(), right.value()).map(Packed::from)
}
