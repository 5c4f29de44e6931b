//! The functions of the script language: names, numbers of arguments, values.
//!
//! Arguments come evaluated and never contain NULL, except for `debug`.

use super::arithmetic::{Ranked, extreme};
use super::code::Binary;
use super::failure::{EvalFailure, Evaluated, MAX_ZIPFIAN, MIN_GAUSSIAN, MIN_ZIPFIAN};
use crate::random::{self, Generator};
use crate::script::packed::Packed;
use crate::script::value::Value;

/// A function that a script can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Function {
    Abs,
    Debug,
    Double,
    Exp,
    Greatest,
    HashFnv1a,
    HashMurmur2,
    Int,
    Least,
    Ln,
    Mod,
    Permute,
    Pi,
    Pow,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomZipfian,
    Sqrt,
}

/// How many arguments a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Just so many.
    Exactly(usize),
    /// One or more.
    AtLeastOne,
    /// So many, or one less with the default seed added.
    WithSeed(usize),
}

/// Name, function, arguments.
pub type Entry = (&'static str, Function, Arity);

const FUNCTIONS: [Entry; 21] = [
    ("abs", Function::Abs, Arity::Exactly(1)),
    ("debug", Function::Debug, Arity::Exactly(1)),
    ("double", Function::Double, Arity::Exactly(1)),
    ("exp", Function::Exp, Arity::Exactly(1)),
    ("greatest", Function::Greatest, Arity::AtLeastOne),
    ("hash", Function::HashMurmur2, Arity::WithSeed(2)),
    ("hash_fnv1a", Function::HashFnv1a, Arity::WithSeed(2)),
    ("hash_murmur2", Function::HashMurmur2, Arity::WithSeed(2)),
    ("int", Function::Int, Arity::Exactly(1)),
    ("least", Function::Least, Arity::AtLeastOne),
    ("ln", Function::Ln, Arity::Exactly(1)),
    ("mod", Function::Mod, Arity::Exactly(2)),
    ("permute", Function::Permute, Arity::WithSeed(3)),
    ("pi", Function::Pi, Arity::Exactly(0)),
    ("pow", Function::Pow, Arity::Exactly(2)),
    ("power", Function::Pow, Arity::Exactly(2)),
    ("random", Function::Random, Arity::Exactly(2)),
    ("random_exponential", Function::RandomExponential, Arity::Exactly(3)),
    ("random_gaussian", Function::RandomGaussian, Arity::Exactly(3)),
    ("random_zipfian", Function::RandomZipfian, Arity::Exactly(3)),
    ("sqrt", Function::Sqrt, Arity::Exactly(1)),
];

/// The function of a name, whose case does not matter.
pub fn find_function(name: &[u8]) -> Option<&'static Entry> {
    FUNCTIONS.iter().find(|(known, ..)| name.eq_ignore_ascii_case(known.as_bytes()))
}

impl Function {
    /// The value for arguments of which none is NULL. `debug` is the evaluator's.
    pub fn call(self, args: &[Packed], generator: &mut Generator) -> Evaluated {
        match (self, args) {
            (Self::Least, values) => return extreme(values, Ranked::Least),
            (Self::Greatest, values) => return extreme(values, Ranked::Greatest),
            _ => {}
        }
        // All others take at most three.
        let mut few = [Value::Null; 3];
        for (value, packed) in few.iter_mut().zip(args) {
            *value = packed.value();
        }
        match (self, &few[..args.len().min(few.len())]) {
            (Self::Pi, _) => Ok(Value::Double(std::f64::consts::PI)),
            (Self::Abs, &[value]) => match value {
                Value::Int(number) => Ok(Value::Int(number.wrapping_abs())),
                other => real(other, f64::abs),
            },
            (Self::Double, &[value]) => real(value, |number| number),
            (Self::Exp, &[value]) => real(value, f64::exp),
            (Self::Ln, &[value]) => real(value, f64::ln),
            (Self::Sqrt, &[value]) => real(value, f64::sqrt),
            (Self::Int, &[value]) => value.as_int().map(Value::Int),
            (Self::Pow, &[base, exponent]) => {
                let base = base.as_double()?;
                Ok(Value::Double(base.powf(exponent.as_double()?)))
            }
            (Self::HashFnv1a, &[value, seed]) => hash(value, seed, random::fnv1a),
            (Self::HashMurmur2, &[value, seed]) => hash(value, seed, random::murmur2),
            (Self::Permute, &[value, size, seed]) => permute(value, size, seed),
            (Self::Mod, &[left, right]) => Binary::Mod.apply(left, right),
            (Self::Random, &[low, high]) => {
                let (low, high) = range(low, high)?;
                Ok(Value::Int(random::uniform(generator, low, high)))
            }
            (_, &[low, high, parameter]) => self.draw(range(low, high)?, parameter, generator),
            // The parser has checked the number of arguments.
            _ => Ok(few[0]),
        }
    }

    /// The value of `random` on two integers, the commonest call of all, in registers; none for anything
    /// else, and for what [`Function::call`] refuses.
    #[inline]
    pub fn random_ints(self, args: &[Packed], generator: &mut Generator) -> Option<Packed> {
        let &[low, high] = args else { return None };
        let (low, high) = (low.as_int()?, high.as_int()?);
        let fits = self == Self::Random && low <= high && width_fits(low, high);
        fits.then(|| Packed::int(random::uniform(generator, low, high)))
    }

    fn draw(self, range: (i64, i64), parameter: Value, generator: &mut Generator) -> Evaluated {
        let parameter = parameter.as_double()?;
        let value = match self {
            Self::RandomGaussian if parameter < MIN_GAUSSIAN => {
                return Err(EvalFailure::Gaussian(parameter).into());
            }
            Self::RandomGaussian => random::gaussian(generator, range, parameter),
            // Not a number is refused too: the sampler would never accept a draw.
            Self::RandomZipfian if !(MIN_ZIPFIAN..=MAX_ZIPFIAN).contains(&parameter) => {
                return Err(EvalFailure::Zipfian(parameter).into());
            }
            Self::RandomZipfian => random::zipfian(generator, range, parameter),
            _ if parameter <= 0.0 => return Err(EvalFailure::Exponential(parameter).into()),
            _ => random::exponential(generator, range, parameter),
        };
        Ok(Value::Int(value))
    }
}

fn real(value: Value, function: impl Fn(f64) -> f64) -> Evaluated {
    Ok(Value::Double(function(value.as_double()?)))
}

fn hash(value: Value, seed: Value, function: fn(i64, i64) -> i64) -> Evaluated {
    let value = value.as_int()?;
    Ok(Value::Int(function(value, seed.as_int()?)))
}

fn permute(value: Value, size: Value, seed: Value) -> Evaluated {
    let (value, size, seed) = (value.as_int()?, size.as_int()?, seed.as_int()?);
    if size <= 0 {
        return Err(EvalFailure::PermuteSize.into());
    }
    Ok(Value::Int(random::permute(value, size, seed)))
}

/// Bounds of a random function; the number of values in between must fit an integer.
#[inline]
fn range(low: Value, high: Value) -> Evaluated<(i64, i64)> {
    let (low, high) = (low.as_int()?, high.as_int()?);
    if low > high {
        return Err(EvalFailure::EmptyRange.into());
    }
    if !width_fits(low, high) {
        return Err(EvalFailure::RangeTooLarge.into());
    }
    Ok((low, high))
}

fn width_fits(low: i64, high: i64) -> bool {
    high.checked_sub(low).is_some_and(|width| width < i64::MAX)
}
