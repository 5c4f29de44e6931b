//! What an expression becomes: postfix code over a stack of values.
//!
//! Jumps are relative to the instruction behind them, so that pieces of code can change places. The
//! commonest shapes of operands have instructions of their own, which halves the work of a script.

use crate::script::packed::Packed;
use crate::script::value::Value;
use crate::script::variables::Slot;

use super::function::Function;

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// Pushes a constant.
    Push(Packed),
    /// Pushes a variable's value.
    Load(Slot),
    /// Replaces the two topmost values by the operator's.
    Binary(Binary),
    /// An operator whose right operand is a constant.
    BinaryPush(Binary, Packed),
    /// An operator whose right operand is a variable.
    BinaryLoad(Binary, Slot),
    /// Pushes an operator's value of a variable and a constant.
    LoadPush(Binary, Slot, Packed),
    /// Pushes an operator's value of two variables.
    LoadLoad(Binary, Slot, Slot),
    /// Whether the topmost value is this one, in type and value.
    Is(Value),
    /// Negates a truth value.
    Not,
    /// Behind the left side of AND: false and NULL are the result already and jump.
    AndLeft(u32),
    /// Behind the left side of OR: true and NULL are the result already and jump.
    OrLeft(u32),
    /// Behind the right side of AND and OR: must be a truth value or NULL.
    Truth,
    /// Pops a condition and jumps unless it holds.
    Unless(u32),
    /// Jumps.
    Jump(u32),
    /// Replaces so many topmost values by the function's.
    Call(Function, u32),
    /// Fails: the function has more arguments than may be evaluated.
    TooManyArguments,
}

/// Operators with two operands that are always both evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Lt,
    Le,
    Eq,
    Ne,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
}

/// A compiled expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Code {
    pub(super) ops: Box<[Op]>,
    /// Most values on the stack at the same time.
    pub(super) depth: usize,
}
