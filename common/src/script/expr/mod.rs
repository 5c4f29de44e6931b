//! Expressions: their tokens, their grammar, and the code they become.
//!
//! An expression is parsed once, straight into postfix code with relative jumps ([`code`]): neither
//! parsing nor evaluation recurses, so no nesting depth can exhaust a thread's stack, and evaluation
//! allocates nothing.

mod arithmetic;
mod code;
mod emit;
mod eval;
mod failure;
mod function;
mod grammar;
mod parse;
mod refusal;
mod token;

pub(crate) use code::Code;
pub(crate) use eval::{Context, Evaluator};
pub(crate) use failure::{EvalFailure, Evaluated};
pub(crate) use parse::parse;
pub(crate) use refusal::ExprError;
pub(crate) use token::{continuation, continues_name, is_blank, starts_name};
