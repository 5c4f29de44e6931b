//! Emits postfix code for the parser and knows where each operand's code begins.

use super::code::{Binary, Code, Op};
use super::function::Function;
use crate::script::packed::Packed;
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
        let depth = depth(&self.ops);
        Code { ops: self.ops.into(), depth }
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
        let left = self.starts.last().copied().unwrap_or_default();
        if swapped {
            let length = self.ops.len() - right;
            self.ops[left..].rotate_left(right - left);
            return self.operator(operator, left, left + length);
        }
        self.operator(operator, left, right);
    }

    /// Appends an operator whose operands' code begins at `left` and `right`. A jump can lead to
    /// where an operand begins but not into the middle of one, so a single instruction may take the
    /// place of the right operand, and of both if the left one is a single instruction too.
    fn operator(&mut self, operator: Binary, left: usize, right: usize) {
        let fused = match self.ops[left..] {
            [Op::Load(first), Op::Push(second)] => {
                Some((left, Op::LoadPush(operator, first, second)))
            }
            [Op::Load(first), Op::Load(second)] => {
                Some((left, Op::LoadLoad(operator, first, second)))
            }
            _ => match self.ops[right..] {
                [Op::Push(second)] => Some((right, Op::BinaryPush(operator, second))),
                [Op::Load(second)] => Some((right, Op::BinaryLoad(operator, second))),
                _ => None,
            },
        };
        let (from, op) = fused.unwrap_or((self.ops.len(), Op::Binary(operator)));
        self.ops.truncate(from);
        self.ops.push(op);
    }

    /// Begins an operation on this constant and the operand that follows; gives its place for
    /// [`Emitter::finish_prefix`].
    pub fn begin_prefix(&mut self, constant: i64) -> usize {
        self.ops.push(Op::Push(Packed::int(constant)));
        self.ops.len() - 1
    }

    /// The operand of a prefix operator is complete.
    pub fn finish_prefix(&mut self, start: usize, operator: Binary) {
        self.starts.pop();
        self.starts.push(start);
        let folded = match (operator, &self.ops[start + 1..]) {
            (Binary::Sub, &[Op::Push(constant)]) => match constant.value() {
                Value::Int(number) => number.checked_neg().map(Value::Int),
                Value::Double(number) => Some(Value::Double(0.0 - number)),
                _ => None,
            },
            _ => None,
        };
        if let Some(constant) = folded {
            self.ops.truncate(start);
            self.ops.push(Op::Push(constant.into()));
        } else {
            self.ops.push(Op::Binary(operator));
        }
    }

    /// The smallest integer in place of a prefix minus.
    pub fn smallest_int(&mut self, start: usize) {
        self.ops.truncate(start);
        self.operand(Op::Push(Packed::int(i64::MIN)));
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

/// The greatest number of values on the stack. Where code joins again after a jump, either way leaves
/// as many.
fn depth(ops: &[Op]) -> usize {
    let mut now = 0usize;
    let mut most = 1;
    for op in ops {
        match op {
            Op::Push(_) | Op::Load(_) | Op::LoadPush(..) | Op::LoadLoad(..) => now += 1,
            // A jump behind a branch takes the branch's value with it.
            Op::Binary(_) | Op::AndLeft(_) | Op::OrLeft(_) | Op::Unless(_) | Op::Jump(_) => {
                now = now.saturating_sub(1);
            }
            Op::Call(_, arguments) => now = (now + 1).saturating_sub(*arguments as usize),
            Op::BinaryPush(..)
            | Op::BinaryLoad(..)
            | Op::Is(_)
            | Op::Not
            | Op::Truth
            | Op::TooManyArguments => {}
        }
        most = most.max(now);
    }
    most
}
