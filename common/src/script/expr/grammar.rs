//! The tables of the grammar: levels of precedence, operators, and what can be open while parsing.

use super::code::Binary;
use super::function::Entry;

/// Levels of precedence, low to high.
pub mod level {
    pub const OR: u8 = 1;
    pub const AND: u8 = 2;
    pub const NOT: u8 = 3;
    pub const IS: u8 = 4;
    pub const COMPARE: u8 = 5;
    pub const BITS: u8 = 6;
    pub const ADD: u8 = 7;
    pub const MULTIPLY: u8 = 8;
    pub const SIGN: u8 = 9;
}

/// What waits for the end of its operand.
#[derive(Clone, Copy, Debug)]
pub enum Pending {
    /// Unary minus, the place of its zero.
    Negate(usize),
    Plus,
    /// The place of its constant.
    Complement(usize),
    Not,
    Binary {
        operator: Binary,
        level: u8,
        swapped: bool,
    },
    /// AND or OR, with the place of the jump behind its left side.
    Lazy {
        level: u8,
        jump: usize,
    },
    Parenthesis,
    Call(Call),
    Case(Case),
}

/// An open argument list.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    pub entry: &'static Entry,
    /// Where the code of the first argument begins.
    pub start: usize,
    pub arguments: usize,
    /// Where the code of the first argument too many begins.
    pub excess: Option<usize>,
}

/// An open CASE.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub part: CasePart,
    pub start: usize,
    /// The jump over the value to the next condition.
    pub skip: usize,
    /// How many jumps to the end of other cases were open before this one.
    pub exits: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CasePart {
    Condition,
    Value,
    Else,
}

/// What may come next.
#[derive(Clone, Copy, Debug)]
pub enum Expect {
    Operand,
    /// An operand, or what ends or (oddly, but as pgbench has it) continues an empty argument list.
    FirstArgument,
    Operator,
    /// The parenthesis behind a function's name.
    Opening(&'static Entry),
    /// The first WHEN.
    When,
    /// What IS asks for.
    IsWhat {
        negated: bool,
    },
}

impl Pending {
    /// The operator's level; `None` for what only a closing word ends.
    pub fn level(self) -> Option<u8> {
        match self {
            Self::Negate(_) | Self::Plus => Some(level::SIGN),
            Self::Complement(_) => Some(level::BITS),
            Self::Not => Some(level::NOT),
            Self::Binary { level, .. } | Self::Lazy { level, .. } => Some(level),
            Self::Parenthesis | Self::Call(_) | Self::Case(_) => None,
        }
    }
}

/// Operator, level and whether the sides are swapped, of a symbol between two operands.
pub fn infix(symbol: &str) -> Option<(Binary, u8, bool)> {
    Some(match symbol {
        "+" => (Binary::Add, level::ADD, false),
        "-" => (Binary::Sub, level::ADD, false),
        "*" => (Binary::Mul, level::MULTIPLY, false),
        "/" => (Binary::Div, level::MULTIPLY, false),
        "%" => (Binary::Mod, level::MULTIPLY, false),
        "<" => (Binary::Lt, level::COMPARE, false),
        "<=" => (Binary::Le, level::COMPARE, false),
        // The right side of these is evaluated, and draws its random numbers, first.
        ">" => (Binary::Lt, level::COMPARE, true),
        ">=" => (Binary::Le, level::COMPARE, true),
        "=" => (Binary::Eq, level::COMPARE, false),
        "<>" | "!=" => (Binary::Ne, level::COMPARE, false),
        "&" => (Binary::BitAnd, level::BITS, false),
        "|" => (Binary::BitOr, level::BITS, false),
        "#" => (Binary::BitXor, level::BITS, false),
        "<<" => (Binary::Shl, level::BITS, false),
        ">>" => (Binary::Shr, level::BITS, false),
        _ => return None,
    })
}
