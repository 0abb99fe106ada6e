import type { Context } from 'hono'
import type { Erasure } from '../../../consumers/erase'
import { KEPT, presentErasure } from '../../../consumers/erasure-fields'
import type { Consumer } from '../../../consumers/read'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'
import { UNSENT } from '../../refusal'
import { Badge } from '../../ui/badge'
import { Confirm } from '../../ui/confirm'
import { Field } from '../../ui/controls'
import { show } from '../../ui/layout'
import { ExactTime, Fact, live } from '../../ui/parts'
import { titleOf } from './words'

/** What the user types to erase a consumer: its first external id or, if it has none, its id. */
export function typedFor({ external_ids, id }: Consumer): string {
  return external_ids[0] ?? id
}

/** Asks before a consumer is erased. */
export function erasePage(c: Context<HttpEnv>, row: Consumer, { mistakes, status } = UNSENT) {
  const path = `${pathsOf(c).consumers}/${row.id}`
  return show(
    c,
    { title: 'Erase consumer', section: 'consumers', above: [titleOf(row), path], status },
    <Confirm
      c={c}
      title={`Erase ${titleOf(row)}?`}
      to={`${path}/erase`}
      verb="Erase consumer"
      back={path}
      danger
      choice={
        <Field
          name="typed"
          label="Type the ID to erase the consumer"
          required
          hint={typedFor(row)}
          mistakes={mistakes}
        />
      }
    >
      <p>
        Use this for a person who asks you to erase their data. <strong>This cannot be undone.</strong>
      </p>
      <p>What is deleted:</p>
      <ul>
        <li>
          Immediately: email address, name, metadata, your IDs and devices, the reasons of grants, and the links to
          customers.
        </li>
        <li>Soon after: the payloads of events about these customers, and personal data in their billing state.</li>
      </ul>
      <p>What stays:</p>
      <Kept />
      <p>Your vendors keep their own data. Ask them to erase it too.</p>
    </Confirm>,
  )
}

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
export function Erased({ c, row, erasure }: { c: Context<HttpEnv>; row: Consumer; erasure: Erasure }) {
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
            The consumer’s own data is gone. What your vendors have sent about its customers is being deleted.
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
            <code>{erasure.id}</code>
          </Fact>
        </dl>
      </section>
      <h2>What stays, and why</h2>
      <Kept />
    </>
  )
}
