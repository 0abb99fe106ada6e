import * as z from 'zod'
import { named } from '../http/fields'

const RefundRule = named('RefundRule', z.enum(['keep', 'end']))
const DisputeRule = named('DisputeRule', z.enum(['suspend', 'keep']))
const RULES = {
  refunded_part: RefundRule.describe('A part of the amount is back. An item that was returned whole ends in any case.'),
  refunded_whole: RefundRule.describe('The whole amount is back.'),
  dispute_open: DisputeRule.describe('A dispute is open, and the money is away until it is decided.'),
  dispute_lost: RefundRule.describe('A dispute is lost.'),
}
/** What a purchase gives after a refund or a dispute, if nothing else is set. */
export const RULES_UNSET = {
  refunded_part: 'keep',
  refunded_whole: 'end',
  dispute_open: 'suspend',
  dispute_lost: 'end',
} as const
const { refunded_part, refunded_whole, dispute_open, dispute_lost } = RULES
/** The rules as a project has them. */
export const PurchaseRuleSet = z.object(RULES)
/** A rule that is left out has its default. Callers send no other fields, and may be answered others. */
export const purchaseRules = z
  .strictObject({
    refunded_part: refunded_part.default(RULES_UNSET.refunded_part),
    refunded_whole: refunded_whole.default(RULES_UNSET.refunded_whole),
    dispute_open: dispute_open.default(RULES_UNSET.dispute_open),
    dispute_lost: dispute_lost.default(RULES_UNSET.dispute_lost),
  })
  .pipe(PurchaseRuleSet)
