import { MergeBody } from '../../../consumers/fields'
import { mergeConsumer } from '../../../consumers/merge'
import type { Consumer } from '../../../consumers/read'
import { refToChange } from '../../../consumers/ref'
import { changeOf } from '../../../http/auth'
import { action } from '../../action'
import { pathsOf, type Visit } from '../../page'
import { type Mistakes, parse } from '../../refusal'
import { Wrong } from '../../ui/controls'
import { plural, stopAfter } from '../../ui/format'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { findTyped } from './find'
import { Choices, placeOfConsumer, titleOf } from './parts'
import { addressedConsumer, isLiving, type Moving, readLiving, readMoving } from './read'

const ABOUT =
  'If two consumers are the same person, merge one into the other. You see what moves before anything changes.'

type Typed = { text: string; found: Consumer[]; more: boolean; mistakes: Mistakes }

/** Asks which consumer the other is merged into. With several that match the text, they are listed to choose from. */
function mergePage(c: Visit, row: Consumer, { text, found, more, mistakes }: Typed) {
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
          <label for="into">Merge into</label>
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
          <Wrong id="into-wrong">{wrong}</Wrong>
          <p class="hint" id="into-hint">
            Its name, its email address, its external ID or csm_…
          </p>
        </div>
      </form>
      {found.length > 0 && (
        <Choices
          c={c}
          rows={found}
          more={more}
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
    const { found, more } = await findTyped(c, text)
    const others = found.filter((row) => row.id !== from.id && isLiving(row))
    const [into] = others
    const moving = into && others.length === 1 ? await readMoving(c, from) : null
    const mistakes: Mistakes = text !== '' && !into ? { into: whyNot(found, from) } : {}
    return { from, into, moving, typed: { text, found: others, more, mistakes } }
  },
  ask: (c, { from, into, moving, typed }) => {
    if (!into || !moving) return mergePage(c, from, typed)
    return {
      ...placeOfConsumer(c, from).view,
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
    return mergePage(c, await readLiving(c), {
      text: entered?.get('into') ?? '',
      found: [],
      more: false,
      mistakes: { into },
    })
  },
})

/** Why none of the consumers that a typed text means can be the one that stays. */
function whyNot(found: Consumer[], from: Consumer): string {
  const merged = found.find(({ merged_into }) => merged_into !== null)
  if (found.some(({ id }) => id === from.id)) return 'This is the same consumer. Enter the other one.'
  if (merged) return `This consumer was merged into ${merged.merged_into}. Use that one.`
  return 'No consumer matches this name, email address or ID.'
}

function Moves({ from, into, moving }: { from: Consumer; into: Consumer; moving: Moving }) {
  const { customers, more, devices, merged } = moving
  const [ended, kept] = [titleOf(from), titleOf(into)]
  return (
    <>
      <dl class="facts two">
        <Side title="From" of={from} />
        <Side title="Into" of={into} />
      </dl>
      <p>These move to {kept}:</p>
      <ul>
        {from.external_ids.length > 0 && (
          <li>
            {idsOf(from)}. API calls that use {from.external_ids.length === 1 ? 'it' : 'them'} then reach {kept}
            {stopAfter(kept)}
          </li>
        )}
        <li>
          {more ? 'More than ' : ''}
          {customers === 0 ? 'No customers' : plural(customers, 'customer')} at your vendors
          {customers > 0 && ', with all subscriptions, invoices and purchases'}.
        </li>
        {devices > 0 && <li>{plural(devices, 'active device')}, even if that is more than the limit.</li>}
        {merged > 0 && (
          <li>
            {plural(merged, 'consumer')} merged into {ended} earlier.
          </li>
        )}
      </ul>
      <p>
        The name, email address and metadata of {ended} do not move. <strong>You cannot undo a merge.</strong>
      </p>
    </>
  )
}

/** How many external ids a confirmation names. */
const NAMED = 5

function idsOf({ external_ids: all }: Consumer) {
  const more = all.length - NAMED
  return (
    <>
      {all.length === 1 ? 'The ID ' : 'The IDs '}
      {all.slice(0, NAMED).map((id, n) => (
        <>
          {n > 0 && ', '}
          <code>{id}</code>
        </>
      ))}
      {more > 0 && ` and ${more} more`}
    </>
  )
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
