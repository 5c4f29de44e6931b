//! The grammar of expressions.
//!
//! Operator precedence with explicit stacks instead of recursion. Each word is accepted or refused
//! when it is read, so that an error stands at the first word with which no expression can go on,
//! as with pgbench's LALR parser. Code is emitted in the order in which operands are evaluated.

mod brackets;

use super::code::{Binary, Code, Op};
use super::emit::Emitter;
use super::function::find_function;
use super::grammar::{Call, Case, CasePart, Expect, Pending, infix, level};
use super::refusal::{ExprError, Refused, SYNTAX, UNKNOWN_FUNCTION, last_error, token_error};
use super::token::{Token, Tokens, Word};
use crate::script::packed::Packed;
use crate::script::value::Value;
use crate::script::variables::Names;

struct Parser<'n> {
    names: &'n mut Names,
    code: Emitter,
    pending: Vec<Pending>,
    /// Jumps to the ends of all open CASEs.
    exits: Vec<usize>,
    expect: Expect,
}

/// Parses from an offset of the script to the end of the line; gives the code and the offset behind
/// the line.
pub fn parse(script: &[u8], at: usize, names: &mut Names) -> Result<(Code, usize), ExprError> {
    let mut tokens = Tokens::new(script, at);
    let mut parser = Parser {
        names,
        code: Emitter::default(),
        pending: Vec::new(),
        exits: Vec::new(),
        expect: Expect::Operand,
    };
    loop {
        match tokens.next() {
            Err(error) => return Err(last_error(token_error(&error, &tokens), tokens)),
            Ok(Token::End) => {
                return match parser.end() {
                    Ok(()) => Ok((parser.code.finish(), tokens.at())),
                    Err(refused) => Err(refused.at(&tokens, None)),
                };
            }
            Ok(token) => {
                if let Err(refused) = parser.accept(token) {
                    let name = if let Token::Name(name) = token { Some(name) } else { None };
                    return Err(last_error(refused.at(&tokens, name), tokens));
                }
            }
        }
    }
}

impl Parser<'_> {
    fn accept(&mut self, token: Token<'_>) -> Result<(), Refused> {
        match self.expect {
            Expect::Operand => self.operand(token),
            Expect::FirstArgument => match token {
                Token::Symbol(",") => {
                    self.expect = Expect::Operand;
                    Ok(())
                }
                Token::Symbol(")") => self.close_call(0),
                other => self.operand(other),
            },
            Expect::Operator => self.operator(token),
            Expect::Opening(entry) => match token {
                Token::Symbol("(") => {
                    let start = self.code.at();
                    self.pending.push(Pending::Call(Call {
                        entry,
                        start,
                        arguments: 0,
                        excess: None,
                    }));
                    self.expect = Expect::FirstArgument;
                    Ok(())
                }
                _ => Err(SYNTAX),
            },
            Expect::When => match token {
                Token::Word(Word::When) => {
                    self.expect = Expect::Operand;
                    Ok(())
                }
                _ => Err(SYNTAX),
            },
            Expect::IsWhat { negated } => self.is_what(token, negated),
        }
    }

    fn end(&mut self) -> Result<(), Refused> {
        if !matches!(self.expect, Expect::Operator) {
            return Err(SYNTAX);
        }
        self.reduce(0);
        if self.pending.is_empty() { Ok(()) } else { Err(SYNTAX) }
    }

    fn operand(&mut self, token: Token<'_>) -> Result<(), Refused> {
        let mut prefix = |pending| {
            self.pending.push(pending);
            self.expect = Expect::Operand;
            Ok(())
        };
        match token {
            Token::Symbol("-") => return prefix(Pending::Negate(self.code.begin_prefix(0))),
            Token::Symbol("+") => return prefix(Pending::Plus),
            Token::Symbol("~") => return prefix(Pending::Complement(self.code.begin_prefix(-1))),
            Token::Word(Word::Not) => return prefix(Pending::Not),
            Token::Symbol("(") => return prefix(Pending::Parenthesis),
            _ => {}
        }
        let op = match token {
            Token::Int(number) => Op::Push(Packed::int(number)),
            Token::Double(number) => Op::Push(Value::Double(number).into()),
            Token::Word(Word::Null) => Op::Push(Packed::NULL),
            Token::Word(Word::True) => Op::Push(Packed::bool(true)),
            Token::Word(Word::False) => Op::Push(Packed::bool(false)),
            Token::Variable(name) => Op::Load(self.names.intern(name)),
            Token::MinusMin => {
                let Some(Pending::Negate(start)) = self.pending.pop() else {
                    return Err(SYNTAX);
                };
                self.code.smallest_int(start);
                self.expect = Expect::Operator;
                return Ok(());
            }
            Token::Name(name) => {
                let entry = find_function(name).ok_or(Refused(UNKNOWN_FUNCTION, None))?;
                self.expect = Expect::Opening(entry);
                return Ok(());
            }
            Token::Word(Word::Case) => {
                let (start, exits) = (self.code.at(), self.exits.len());
                let case = Case { part: CasePart::Condition, start, skip: 0, exits };
                self.pending.push(Pending::Case(case));
                self.expect = Expect::When;
                return Ok(());
            }
            _ => return Err(SYNTAX),
        };
        self.code.operand(op);
        self.expect = Expect::Operator;
        Ok(())
    }

    fn operator(&mut self, token: Token<'_>) -> Result<(), Refused> {
        match token {
            Token::Symbol(")") => self.closing_parenthesis(),
            Token::Symbol(",") => self.comma(),
            Token::Symbol(symbol) => self.infix(symbol),
            Token::Word(Word::And) => {
                self.lazy(level::AND, Op::AndLeft(0));
                Ok(())
            }
            Token::Word(Word::Or) => {
                self.lazy(level::OR, Op::OrLeft(0));
                Ok(())
            }
            Token::Word(Word::Is) => {
                self.reduce(level::IS);
                self.expect = Expect::IsWhat { negated: false };
                Ok(())
            }
            Token::Word(word @ (Word::IsNull | Word::NotNull)) => {
                self.reduce(level::IS);
                self.code.unary(Op::Is(Value::Null));
                if word == Word::NotNull {
                    self.code.unary(Op::Not);
                }
                Ok(())
            }
            Token::Word(word @ (Word::When | Word::Then | Word::Else | Word::End)) => {
                self.case(word)
            }
            _ => Err(SYNTAX),
        }
    }

    fn is_what(&mut self, token: Token<'_>, negated: bool) -> Result<(), Refused> {
        let constant = match token {
            Token::Word(Word::Not) if !negated => {
                self.expect = Expect::IsWhat { negated: true };
                return Ok(());
            }
            Token::Word(Word::Null) => Value::Null,
            Token::Word(Word::True) => Value::Bool(true),
            Token::Word(Word::False) => Value::Bool(false),
            _ => return Err(SYNTAX),
        };
        self.code.unary(Op::Is(constant));
        if negated {
            self.code.unary(Op::Not);
        }
        self.expect = Expect::Operator;
        Ok(())
    }

    fn infix(&mut self, symbol: &str) -> Result<(), Refused> {
        let Some((operator, level, swapped)) = infix(symbol) else {
            return Err(SYNTAX);
        };
        let chains = level != level::COMPARE;
        self.reduce(if chains { level } else { level + 1 });
        if !chains && self.pending.last().and_then(|top| top.level()) == Some(level) {
            return Err(SYNTAX);
        }
        self.pending.push(Pending::Binary { operator, level, swapped });
        self.expect = Expect::Operand;
        Ok(())
    }

    fn lazy(&mut self, level: u8, op: Op) {
        self.reduce(level);
        let jump = self.code.jump(op);
        self.pending.push(Pending::Lazy { level, jump });
        self.expect = Expect::Operand;
    }

    /// Applies the operators that bind at least as closely as `level` to their operands.
    fn reduce(&mut self, level: u8) {
        while let Some(&top) = self.pending.last() {
            if top.level().is_none_or(|own| own < level) {
                break;
            }
            self.pending.pop();
            match top {
                Pending::Negate(start) => self.code.finish_prefix(start, Binary::Sub),
                Pending::Complement(start) => self.code.finish_prefix(start, Binary::BitXor),
                Pending::Not => self.code.unary(Op::Not),
                Pending::Binary { operator, swapped, .. } => self.code.binary(operator, swapped),
                Pending::Lazy { jump, .. } => self.code.lazy(jump),
                _ => {}
            }
        }
    }
}
