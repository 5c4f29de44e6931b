//! What has a beginning and an end: parentheses, argument lists, CASE.

use super::Parser;
use crate::script::expr::code::Op;
use crate::script::expr::failure::MAX_ARGUMENTS;
use crate::script::expr::function::Arity;
use crate::script::expr::grammar::{Case, CasePart, Expect, Pending};
use crate::script::expr::refusal::{Refused, SYNTAX};
use crate::script::expr::token::Word;
use crate::script::packed::Packed;

impl Parser<'_> {
    pub(super) fn closing_parenthesis(&mut self) -> Result<(), Refused> {
        self.reduce(0);
        match self.pending.last() {
            Some(Pending::Parenthesis) => {
                self.pending.pop();
                Ok(())
            }
            Some(Pending::Call(call)) => self.close_call(call.arguments + 1),
            _ => Err(SYNTAX),
        }
    }

    pub(super) fn comma(&mut self) -> Result<(), Refused> {
        self.reduce(0);
        let at = self.code.at();
        let Some(Pending::Call(call)) = self.pending.last_mut() else {
            return Err(SYNTAX);
        };
        call.arguments += 1;
        if call.arguments == MAX_ARGUMENTS {
            call.excess = Some(at);
        }
        self.expect = Expect::Operand;
        Ok(())
    }

    pub(super) fn close_call(&mut self, arguments: usize) -> Result<(), Refused> {
        let Some(Pending::Call(call)) = self.pending.pop() else {
            return Err(SYNTAX);
        };
        let (name, function, arity) = *call.entry;
        let wrong = Err(Refused("unexpected number of arguments", Some(name)));
        let mut total = arguments;
        match arity {
            Arity::Exactly(wanted) if arguments != wanted => return wrong,
            Arity::AtLeastOne if arguments == 0 => {
                return Err(Refused("at least one argument expected", Some(name)));
            }
            Arity::WithSeed(wanted) if arguments + 1 == wanted => {
                self.code.operand(Op::Load(self.names.intern(b"default_seed")));
                total += 1;
            }
            Arity::WithSeed(wanted) if arguments != wanted => return wrong,
            _ => {}
        }
        match call.excess {
            None => self.code.call(function, total, call.start),
            Some(from) => self.code.failing_call(total, call.start, from),
        }
        self.expect = Expect::Operator;
        Ok(())
    }

    /// A word of the innermost CASE behind a condition or a value.
    pub(super) fn case(&mut self, word: Word) -> Result<(), Refused> {
        self.reduce(0);
        let Some(Pending::Case(case)) = self.pending.last_mut() else {
            return Err(SYNTAX);
        };
        match (case.part, word) {
            (CasePart::Condition, Word::Then) => {
                case.skip = self.code.jump(Op::Unless(0));
                case.part = CasePart::Value;
            }
            (CasePart::Value, Word::When | Word::Else | Word::End) => {
                self.exits.push(self.code.jump(Op::Jump(0)));
                self.code.land(case.skip);
                match word {
                    Word::When => case.part = CasePart::Condition,
                    Word::Else => case.part = CasePart::Else,
                    _ => self.code.unary(Op::Push(Packed::NULL)),
                }
            }
            (CasePart::Else, Word::End) => {}
            _ => return Err(SYNTAX),
        }
        let case = *case;
        self.code.drop_operand();
        self.expect = Expect::Operand;
        if word == Word::End {
            self.end_case(case);
        }
        Ok(())
    }

    fn end_case(&mut self, case: Case) {
        for exit in self.exits.drain(case.exits..) {
            self.code.land(exit);
        }
        self.pending.pop();
        self.code.operand_from(case.start);
        self.expect = Expect::Operator;
    }
}
