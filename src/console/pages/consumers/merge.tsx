import type { Context } from 'hono'
import type { Consumer } from '../../../consumers/read'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'
import type { Mistakes } from '../../refusal'
import { Confirm } from '../../ui/confirm'
import { Wrong } from '../../ui/controls'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { Choices } from './choose'
import { titleOf } from './words'

const ABOUT = 'For two consumers that are the same person. You see what moves before anything changes.'

type Typed = { text: string; found: Consumer[]; mistakes: Mistakes }

/** Asks which consumer stays. With several that match the text, they are listed to choose from. */
export function mergePage(c: Context<HttpEnv>, row: Consumer, { text, found, mistakes }: Typed) {
  const path = `${pathsOf(c).consumers}/${row.id}`
  const wrong = mistakes.into
  return show(
    c,
    { title: 'Merge consumer', section: 'consumers', above: [titleOf(row), path], status: wrong ? 422 : 200 },
    <>
      <Head title={`Merge ${titleOf(row)} into another consumer`} />
      <p class="quiet">{ABOUT}</p>
      <form method="get" action={`${path}/merge`} class="form">
        <div class="field">
          <label for="into">The consumer that stays</label>
          <div class="finder">
            <input
              id="into"
              name="into"
              value={text}
              required
              maxlength={300}
              autocomplete="off"
              spellcheck={false}
              aria-invalid={wrong ? 'true' : undefined}
              aria-describedby={wrong ? 'into-wrong' : 'into-hint'}
            />
            <button type="submit" class="primary">
              Continue
            </button>
          </div>
          <p class="hint" id="into-hint">
            Your own ID, csm_… or an email address.
          </p>
          <Wrong id="into-wrong">{wrong}</Wrong>
        </div>
      </form>
      {found.length > 0 && (
        <Choices
          c={c}
          rows={found}
          choose={({ id }) => (
            <a class="button" href={`${path}/merge?into=${id}`}>
              Choose<span class="unseen"> {id}</span>
            </a>
          )}
        />
      )}
    </>,
  )
}

/** What a merge would move. */
export type Moving = { customers: number; more: boolean; merged: number; devices: number }

/** Asks before a consumer is merged into another one. */
export function confirmMergePage(
  c: Context<HttpEnv>,
  { from, into, moving }: { from: Consumer; into: Consumer; moving: Moving },
) {
  const path = `${pathsOf(c).consumers}/${from.id}`
  return show(
    c,
    { title: 'Merge consumer', section: 'consumers', above: [titleOf(from), path] },
    <Confirm
      c={c}
      title={`Merge ${titleOf(from)} into ${titleOf(into)}?`}
      to={`${path}/merge`}
      verb="Merge consumers"
      back={path}
      danger
      choice={<input type="hidden" name="into" value={into.id} autocomplete="off" />}
    >
      <dl class="facts two">
        <Side title="Ends" of={from} />
        <Side title="Stays" of={into} />
      </dl>
      <p>These move to the consumer that stays:</p>
      <ul>
        <li>{idsOf(from)}. Calls with these IDs reach the consumer that stays.</li>
        <li>{customersIn(moving)}, with their subscriptions and invoices.</li>
        {moving.devices > 0 && (
          <li>{plural(moving.devices, 'active device')}. The consumer that stays can then have more than the limit.</li>
        )}
        {moving.merged > 0 && <li>{plural(moving.merged, 'consumer')} that had been merged into the one that ends.</li>}
      </ul>
      <p>
        The email address, the name and the metadata of the one that ends do not move.{' '}
        <strong>This cannot be undone.</strong>
      </p>
    </Confirm>,
  )
}

/** How many external ids a confirmation names. */
const NAMED = 5

function idsOf({ external_ids: all }: Consumer): string {
  if (all.length === 0) return 'None of your IDs, because it has none'
  const more = all.length > NAMED ? ` and ${all.length - NAMED} more` : ''
  return `${all.length === 1 ? 'Your ID' : 'Your IDs'} ${all.slice(0, NAMED).join(', ')}${more}`
}

function customersIn({ customers, more }: Moving): string {
  if (more) return `More than ${customers} customers of your vendors`
  return customers === 0 ? 'No customers of your vendors' : `${plural(customers, 'customer')} of your vendors`
}

function Side({ title, of }: { title: string; of: Consumer }) {
  const { email, id, external_ids, state } = of
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        <strong>{titleOf(of)}</strong>
        {email !== null && email !== titleOf(of) && <span class="line">{email}</span>}
        {external_ids[0] !== undefined && <code class="line">{external_ids[0]}</code>}
        <code class="line quiet">{id}</code>
        {state === 'blocked' && <span class="line">Blocked</span>}
      </dd>
    </div>
  )
}
