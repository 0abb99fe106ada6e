import type { Context } from 'hono'
import { MAX_FEATURES } from '../../../catalog/limits'
import type { Consumer } from '../../../consumers/read'
import { MAX_DAYS_BACK } from '../../../entitlements/limits'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'
import { UNSENT } from '../../refusal'
import { Field } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { titleOf } from '../consumers/words'
import type { Entitlements } from './read'
import { Shown } from './section'

/** All entitlements of a consumer: now, or at the time `at` of the form. */
export function entitlementsPage(
  c: Context<HttpEnv>,
  row: Consumer,
  { of, at }: { of: Entitlements | null; at: string },
  { mistakes, status } = UNSENT,
) {
  const path = `${pathsOf(c).consumers}/${row.id}`
  return show(
    c,
    { title: 'Entitlements', section: 'consumers', above: [titleOf(row), path], status },
    <>
      <Head title={`Entitlements of ${titleOf(row)}`} />
      <form method="get" action={`${path}/entitlements`} class="form at">
        <Field
          name="at"
          label="At an earlier time (UTC)"
          type="datetime-local"
          value={at}
          hint={`Up to ${MAX_DAYS_BACK} days ago. Leave it empty for now.`}
          mistakes={mistakes}
        />
        <div class="actions">
          <button type="submit">Show</button>
        </div>
      </form>
      <Missing of={of?.missing ?? null} />
      <Shown c={c} consumer={row.id} of={of} most={MAX_FEATURES} />
    </>,
  )
}

/** What is not known of an earlier time. Renders nothing for now. */
function Missing({ of }: { of: readonly string[] | null }) {
  if (of === null) return null
  if (of.length === 0) return <p class="notice">This is exactly what the answer was at that time.</p>
  return (
    <div class="warning" role="note">
      <p>The answer may have been different at that time:</p>
      <ul>
        {of.map((line) => (
          <li>{line}</li>
        ))}
      </ul>
    </div>
  )
}
