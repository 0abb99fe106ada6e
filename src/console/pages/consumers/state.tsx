import { setBlocked } from '../../../consumers/change'
import { type Erasure, eraseConsumer } from '../../../consumers/erase'
import { KEPT, presentErasure } from '../../../consumers/erasure-fields'
import { BlockBody, UnblockBody } from '../../../consumers/fields'
import { MAX_BLOCK_REASON } from '../../../consumers/limits'
import type { Consumer } from '../../../consumers/read'
import { changeOf, projectOf } from '../../../http/auth'
import { requireConfirmed } from '../../../http/policy'
import { action } from '../../action'
import { form, text } from '../../form'
import { pathsOf, type Visit } from '../../page'
import { Refused } from '../../refusal'
import { userOf } from '../../session'
import { Badge } from '../../ui/badge'
import { Field } from '../../ui/controls'
import { Id } from '../../ui/id'
import { ExactTime, Fact, live } from '../../ui/parts'
import { placeOfConsumer, titleOf } from './parts'
import { addressedConsumer, readLiving } from './read'

const reason = (kept: string) =>
  text('Reason (optional)', { maxlength: 2 * MAX_BLOCK_REASON, hint: `${kept} Do not enter personal data.` })
const BLOCK = form(BlockBody, { reason: reason('Shown on the consumer’s page, and kept in the audit log.') })
const UNBLOCK = form(UnblockBody, { reason: reason('Kept in the audit log.') })

const block = action({
  at: '/:consumer/block',
  needs: 'consumers:write',
  read: readLiving,
  ask: (c, row, sent) => ({
    ...placeOfConsumer(c, row).view,
    title: 'Block consumer',
    question: `Block ${titleOf(row)}?`,
    says: (
      <p>
        While the consumer is blocked, its device tokens are not valid, and your servers see the state “blocked”.
        Nothing is deleted. You can unblock the consumer at any time.
      </p>
    ),
    choice: BLOCK.field('reason', sent),
    verb: 'Block consumer',
    danger: true,
  }),
  run: (c) => {
    const { reason = null } = BLOCK.body(c.get('form'))
    return setBlocked(c.get('rt').db, addressedConsumer(c), { blocked: true, reason }, changeOf(c))
  },
  done: (c, { id }) => [`${pathsOf(c).consumers}/${id}`, 'consumer_blocked'],
})

const unblock = action({
  at: '/:consumer/unblock',
  needs: 'consumers:write',
  read: readLiving,
  ask: (c, row, sent) => ({
    ...placeOfConsumer(c, row).view,
    title: 'Unblock consumer',
    question: `Unblock ${titleOf(row)}?`,
    says: (
      <>
        <p>The consumer becomes active again.</p>
        {row.blocked_reason !== null && <p>The reason for blocking it was “{row.blocked_reason}”.</p>}
      </>
    ),
    choice: UNBLOCK.field('reason', sent),
    verb: 'Unblock consumer',
  }),
  run: (c) => {
    const { reason = null } = UNBLOCK.body(c.get('form'))
    return setBlocked(c.get('rt').db, addressedConsumer(c), { blocked: false, reason }, changeOf(c))
  },
  done: (c, { id }) => [`${pathsOf(c).consumers}/${id}`, 'consumer_unblocked'],
})

/** What the user types to erase a consumer: its first external id or, if it has none, its id. */
function typedFor({ external_ids, id }: Consumer): string {
  return external_ids[0] ?? id
}

const erase = action({
  at: '/:consumer/erase',
  needs: 'consumers:erase',
  requires: (c) => requireConfirmed(userOf(c)),
  read: readLiving,
  ask: (c, row, { mistakes }) => ({
    ...placeOfConsumer(c, row).view,
    title: 'Erase consumer',
    question: `Erase ${titleOf(row)}?`,
    says: (
      <>
        <p>
          Use this for a person who asks you to erase their data. <strong>This cannot be undone.</strong>
        </p>
        <p>What is deleted:</p>
        <ul>
          <li>
            Immediately: all details (such as email address, name and metadata), your IDs and devices, the reasons of
            grants, and the links to customers.
          </li>
          <li>Soon after: the payloads of events about these customers, and personal data in their billing state.</li>
        </ul>
        <p>What stays:</p>
        <Kept />
        <p>Your vendors keep their own data. Ask them to erase it too.</p>
      </>
    ),
    choice: (
      <Field name="typed" label="Type the ID to erase the consumer" required hint={typedFor(row)} mistakes={mistakes} />
    ),
    verb: 'Erase consumer',
    danger: true,
  }),
  run: async (c) => {
    const row = await readLiving(c)
    if ((c.get('form').get('typed') ?? '').trim() !== typedFor(row))
      throw new Refused({ typed: 'This is not the ID of the consumer. Nothing was erased.' })
    await eraseConsumer(c.get('rt'), { project_id: projectOf(c.get('actor')), ref: { id: row.id } }, changeOf(c))
    return row
  },
  done: (c, { id }) => [`${pathsOf(c).consumers}/${id}`, 'consumer_erased'],
})

/** Blocks, unblocks or erases a consumer. */
export const statePages = [block, unblock, erase]

function Kept() {
  return (
    <ul>
      {KEPT.map(({ what, why }) => (
        <li>
          {what} <span class="hint">{why}</span>
        </li>
      ))}
    </ul>
  )
}

/** How far an erasure is, and what it keeps. It updates itself until it is done. */
export function ErasedState({ c, row, erasure }: { c: Visit; row: Consumer; erasure: Erasure }) {
  const { now } = c.get('rt')
  const { state, payloads_removed } = presentErasure(erasure)
  return (
    <>
      <section
        id="erasure"
        aria-labelledby="erasure-title"
        {...(state === 'running' && live('erasure', `${pathsOf(c).consumers}/${row.id}`, '5s'))}
      >
        <h2 id="erasure-title">
          Erasure <Badge of={state} />
        </h2>
        {state === 'running' && (
          <p class="quiet">
            The consumer’s own data has been deleted. Data from your vendors about its customers is being deleted.
          </p>
        )}
        <dl class="facts">
          <Fact name="Requested">
            <ExactTime at={erasure.requested_at} now={now} />
          </Fact>
          <Fact name="Finished">
            <ExactTime at={erasure.finished_at} now={now} none="Not yet" />
          </Fact>
          <Fact name="Payloads removed">{payloads_removed.toLocaleString('en')}</Fact>
          <Fact name="Erasure ID">
            <Id>{erasure.id}</Id>
          </Fact>
        </dl>
      </section>
      <h2>What stays, and why</h2>
      <Kept />
    </>
  )
}
