import { PurchaseRuleSet, type Settings } from '../../../tenancy/settings'
import { choice, form } from '../../form'
import { can, type Visit } from '../../page'
import { type Sent, UNSENT } from '../../refusal'
import { Fact } from '../../ui/parts'
import { SettingsForm } from './settings-form'

const ENDS = { end: 'The purchase gives nothing more', keep: 'The purchase still gives its plan' }
const WHILE_OPEN = { suspend: 'The purchase gives nothing until the dispute is decided', keep: ENDS.keep }
/** The cases in their order: what is asked, and the words of each answer. */
const CASES = {
  refunded_part: ['When a part of the amount was refunded', ENDS],
  refunded_whole: ['When the whole amount was refunded', ENDS],
  dispute_open: ['While a dispute is open', WHILE_OPEN],
  dispute_lost: ['When a dispute is lost', ENDS],
} as const
const NAMES = Object.keys(CASES) as (keyof typeof CASES)[]
const HINTS: Partial<Record<keyof typeof CASES, string>> = {
  refunded_part: 'An item that was returned in full ends in any case.',
  dispute_open: 'The money is withheld meanwhile. If you win the dispute, the purchase gives its plan again.',
}

const question = (name: keyof typeof CASES) =>
  choice(CASES[name][0], Object.entries(CASES[name][1]), { required: true, hint: HINTS[name] ?? '' })
const RULES = form(PurchaseRuleSet, {
  refunded_part: question('refunded_part'),
  refunded_whole: question('refunded_whole'),
  dispute_open: question('dispute_open'),
  dispute_lost: question('dispute_lost'),
})

/** What a purchase gives after a refund or a dispute. The rules are one setting, so that all of them are sent. */
export const PURCHASES = { body: (sent: URLSearchParams) => ({ purchase_rules: RULES.body(sent) }) }

export function PurchaseSettings(props: { c: Visit; settings: Settings; sent?: Sent | undefined }) {
  const { c, settings, sent = UNSENT } = props
  const rules = settings.purchase_rules
  const of = { ...sent, entered: sent.entered ?? RULES.opened(rules) }
  return (
    <section id="purchases" aria-labelledby="purchases-title">
      <h2 id="purchases-title">Refunds and disputes of purchases</h2>
      {can(c, 'projects:write') ? (
        <SettingsForm c={c} to="purchases" sent={of}>
          <p class="quiet">
            What a one-time purchase gives after its money went back. Changes apply immediately, to all purchases.
          </p>
          {NAMES.map((name) => RULES.field(name, of))}
        </SettingsForm>
      ) : (
        <dl class="facts">
          {NAMES.map((name) => (
            <Fact name={CASES[name][0]}>{(CASES[name][1] as Record<string, string>)[rules[name]]}</Fact>
          ))}
        </dl>
      )}
    </section>
  )
}
