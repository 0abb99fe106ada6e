import { MergeBody } from '../../../consumers/fields'
import { mergeConsumer } from '../../../consumers/merge'
import type { Consumer } from '../../../consumers/read'
import { refToChange } from '../../../consumers/ref'
import { changeOf } from '../../../http/auth'
import { action } from '../../action'
import { pathsOf, type Visit } from '../../page'
import { type Mistakes, parse } from '../../refusal'
import { Wrong } from '../../ui/controls'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { findTyped } from './find'
import { Choices, placeOf, titleOf } from './parts'
import { addressedConsumer, type Moving, readLiving, readMoving } from './read'

const ABOUT = 'Merge two consumers that are the same person. You see what moves before anything changes.'

type Typed = { text: string; found: Consumer[]; mistakes: Mistakes }

/** Asks which consumer stays. With several that match the text, they are listed to choose from. */
function mergePage(c: Visit, row: Consumer, { text, found, mistakes }: Typed) {
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

export const mergePages = action({
  at: '/:consumer/merge',
  needs: 'consumers:write',
  read: async (c) => {
    const from = await readLiving(c)
    const text = (c.req.query('into') ?? '').trim()
    const found = text === '' ? [] : await findTyped(c, text)
    const others = found.filter(({ id, state }) => id !== from.id && state !== 'merged' && state !== 'erased')
    const [into] = others
    const moving = into && others.length === 1 ? await readMoving(c, from) : null
    const mistakes: Mistakes = text !== '' && !into ? { into: whyNot(found, from) } : {}
    return { from, into, moving, typed: { text, found: others, mistakes } }
  },
  ask: (c, { from, into, moving, typed }) => {
    if (!into || !moving) return mergePage(c, from, typed)
    return {
      ...placeOf(c, from).view,
      title: 'Merge consumer',
      question: `Merge ${titleOf(from)} into ${titleOf(into)}?`,
      says: <Moves from={from} into={into} moving={moving} />,
      choice: <input type="hidden" name="into" value={into.id} autocomplete="off" />,
      verb: 'Merge consumers',
      danger: true,
    }
  },
  run: (c) => {
    const { into } = parse(MergeBody, { into: c.get('form').get('into') ?? '' })
    return mergeConsumer(c.get('rt').db, addressedConsumer(c), refToChange(into), changeOf(c))
  },
  done: (c, { id }) => [`${pathsOf(c).consumers}/${id}`, 'consumer_merged'],
  again: async (c, { mistakes, entered }) => {
    const into = mistakes.form ?? mistakes.into ?? ''
    return mergePage(c, await readLiving(c), { text: entered?.get('into') ?? '', found: [], mistakes: { into } })
  },
})

/** Why none of the consumers that a typed text means can be the one that stays. */
function whyNot(found: Consumer[], from: Consumer): string {
  const merged = found.find(({ merged_into }) => merged_into !== null)
  if (found.some(({ id }) => id === from.id)) return 'This is the same consumer. Enter the other one.'
  if (merged) return `This consumer was merged into ${merged.merged_into}. Use that one.`
  return 'No consumer has this ID or email address.'
}

function Moves({ from, into, moving }: { from: Consumer; into: Consumer; moving: Moving }) {
  return (
    <>
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
        {moving.merged > 0 && (
          <li>{plural(moving.merged, 'consumer')} that had been merged into the consumer that ends.</li>
        )}
      </ul>
      <p>
        The details of the consumer that ends, such as its email address, do not move.{' '}
        <strong>This cannot be undone.</strong>
      </p>
    </>
  )
}

/** How many external ids a confirmation names. */
const NAMED = 5

function idsOf({ external_ids: all }: Consumer): string {
  if (all.length === 0) return 'No IDs, because it has none'
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
