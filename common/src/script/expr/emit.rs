//! Emits postfix code for the parser and knows where each operand's code begins.

use super::code::{Binary, Code, Op};
use super::function::Function;
use crate::script::value::Value;

/// Code under construction.
#[derive(Debug, Default)]
pub struct Emitter {
    ops: Vec<Op>,
    /// Where the code of each operand that waits for its operator begins.
    starts: Vec<usize>,
}

impl Emitter {
    /// Offset of the next instruction.
    pub fn at(&self) -> usize {
        self.ops.len()
    }

    pub fn finish(self) -> Code {
        Code { ops: self.ops.into() }
    }

    /// A constant or a variable.
    pub fn operand(&mut self, op: Op) {
        self.starts.push(self.ops.len());
        self.ops.push(op);
    }

    /// An operator behind its last operand, which it takes the place of.
    pub fn unary(&mut self, op: Op) {
        self.ops.push(op);
    }

    /// An operator of two operands; `swapped` evaluates (and takes) the right one first.
    pub fn binary(&mut self, operator: Binary, swapped: bool) {
        let right = self.starts.pop().unwrap_or_default();
        if swapped {
            let left = self.starts.last().copied().unwrap_or_default();
            self.ops[left..].rotate_left(right - left);
        }
        self.ops.push(Op::Binary(operator));
    }

    /// Begins an operation on this constant and the operand that follows; gives its place for
    /// [`Emitter::finish_prefix`].
    pub fn begin_prefix(&mut self, constant: i64) -> usize {
        self.ops.push(Op::Push(Value::Int(constant)));
        self.ops.len() - 1
    }

    /// The operand of a prefix operator is complete.
    pub fn finish_prefix(&mut self, start: usize, operator: Binary) {
        self.starts.pop();
        self.starts.push(start);
        let folded = match (operator, &self.ops[start + 1..]) {
            (Binary::Sub, &[Op::Push(Value::Int(number))]) => number.checked_neg().map(Value::Int),
            (Binary::Sub, &[Op::Push(Value::Double(number))]) => Some(Value::Double(0.0 - number)),
            _ => None,
        };
        if let Some(constant) = folded {
            self.ops.truncate(start);
            self.ops.push(Op::Push(constant));
        } else {
            self.ops.push(Op::Binary(operator));
        }
    }

    /// The smallest integer in place of a prefix minus.
    pub fn smallest_int(&mut self, start: usize) {
        self.ops.truncate(start);
        self.operand(Op::Push(Value::Int(i64::MIN)));
    }

    /// A jump whose target comes later; gives its place for [`Emitter::land`].
    pub fn jump(&mut self, op: Op) -> usize {
        self.ops.push(op);
        self.ops.len() - 1
    }

    /// Lets a jump go to the next instruction.
    pub fn land(&mut self, jump: usize) {
        // Every instruction comes from at least one byte of script.
        let distance =
            u32::try_from(self.ops.len() - jump - 1).expect("fewer than 2^32 operations");
        if let Op::AndLeft(d) | Op::OrLeft(d) | Op::Unless(d) | Op::Jump(d) = &mut self.ops[jump] {
            *d = distance;
        }
    }

    /// The right side of AND or OR is complete.
    pub fn lazy(&mut self, jump: usize) {
        self.starts.pop();
        self.ops.push(Op::Truth);
        self.land(jump);
    }

    /// The last operand has been consumed by a jump or belongs to a branch.
    pub fn drop_operand(&mut self) {
        self.starts.pop();
    }

    /// What has been emitted from `start` on is one operand.
    pub fn operand_from(&mut self, start: usize) {
        self.starts.push(start);
    }

    /// A call of a function whose arguments begin at `start`.
    pub fn call(&mut self, function: Function, arguments: usize, start: usize) {
        self.starts.truncate(self.starts.len() - arguments);
        self.starts.push(start);
        let count = u32::try_from(arguments).expect("at most 16 arguments");
        self.ops.push(Op::Call(function, count));
    }

    /// A call that fails where its first argument too many, at `from`, would be evaluated.
    pub fn failing_call(&mut self, arguments: usize, start: usize, from: usize) {
        self.starts.truncate(self.starts.len() - arguments);
        self.starts.push(start);
        self.ops.truncate(from);
        self.ops.push(Op::TooManyArguments);
    }
}
