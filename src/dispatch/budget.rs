//! Budgets of tokens and dollars: what is spent of them, and what is left.

use crate::profile::Budget;
use crate::reply::Usage;

/// Why nothing more may be asked after so much, if that is so. What a CLI does not tell cannot be counted: a
/// budget of it is taken for spent.
pub fn spent(budget: &Budget, usage: Option<&Usage>) -> Option<String> {
    let untold =
        |what: String| Some(format!("the CLI does not tell how much of the budget of {what} is spent"));
    if let Some(most) = budget.max_tokens {
        match usage.and_then(Usage::tokens) {
            None => return untold(format!("{most} tokens")),
            Some(spent) if spent >= most => {
                return Some(format!("the budget of {most} tokens is spent: {spent}"));
            }
            Some(_) => {}
        }
    }
    if let Some(most) = budget.max_cost_usd {
        match usage.and_then(|usage| usage.cost_usd) {
            None => return untold(format!("${most}")),
            Some(spent) if spent >= most => {
                return Some(format!("the budget of ${most} is spent: ${spent:.4}"));
            }
            Some(_) => {}
        }
    }
    None
}

/// What is left after so much.
pub fn remaining(budget: &Budget, usage: Option<&Usage>) -> Budget {
    let tokens = usage.and_then(Usage::tokens).unwrap_or(0);
    let cost = usage.and_then(|usage| usage.cost_usd).unwrap_or(0.0);
    Budget {
        max_tokens: budget.max_tokens.map(|most| most.saturating_sub(tokens)),
        max_cost_usd: budget.max_cost_usd.map(|most| (most - cost).max(0.0)),
    }
}
