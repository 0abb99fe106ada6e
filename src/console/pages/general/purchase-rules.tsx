import { PurchaseRuleSet } from '../../../tenancy/purchase-rules'
import type { Settings } from '../../../tenancy/settings'
import { choice, form } from '../../form'
import { can, type Visit } from '../../page'
import { type Sent, UNSENT } from '../../refusal'
import { Fact } from '../../ui/parts'
import { SettingsForm } from './settings-form'

const ENDS = { end: 'The purchase ends', keep: 'The purchase keeps granting access' }
const WHILE_OPEN = { suspend: 'The purchase is suspended', keep: ENDS.keep }
/** The cases in their order: what is asked, the words of each answer, and what else there is to know. */
const CASES = {
  refunded_part: ['When the payment was partly refunded', ENDS, 'A fully returned item always ends.'],
  refunded_whole: ['When the payment was fully refunded', ENDS, ''],
  dispute_open: [
    'While a dispute is open',
    WHILE_OPEN,
    'A suspended purchase grants no access until the dispute is decided. If you win, access returns.',
  ],
  dispute_lost: ['When a dispute is lost', ENDS, ''],
} as const
type Case = keyof typeof CASES
const NAMES = Object.keys(CASES) as Case[]

const questions = NAMES.map((name) => {
  const [label, answers, hint] = CASES[name]
  return [name, choice(label, Object.entries(answers), { required: true, hint })] as const
})
const RULES = form(PurchaseRuleSet, Object.fromEntries(questions) as Record<Case, (typeof questions)[number][1]>)

/** What a purchase gives after a refund or a dispute. The rules are one setting, so that all of them are sent. */
export const PURCHASES = {
  labels: RULES.labels,
  body: (sent: URLSearchParams) => ({ purchase_rules: RULES.body(sent) }),
  said: ({ purchase_rules: after }: Record<string, unknown>, { purchase_rules: before }: Record<string, unknown>) =>
    after ? RULES.said(after as Record<string, unknown>, before as Record<string, unknown> | undefined) : [],
}

export function PurchaseSettings(props: { c: Visit; settings: Settings; sent?: Sent | undefined }) {
  const { c, settings, sent = UNSENT } = props
  const rules = settings.purchase_rules
  const of = { ...sent, entered: sent.entered ?? RULES.opened(rules) }
  return (
    <section aria-labelledby="purchases">
      <h2 id="purchases">Refunds and disputes of purchases</h2>
      {can(c, 'projects:write') ? (
        <SettingsForm c={c} to="purchases" sent={of}>
          <p class="quiet">Changes apply immediately, to all purchases.</p>
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
