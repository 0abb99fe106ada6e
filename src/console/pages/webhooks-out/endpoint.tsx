import type { Relay } from '../../../followers/schema'
import { can, pathsOf, type Visit } from '../../page'
import type { Sent } from '../../refusal'
import { Post, Wrong } from '../../ui/controls'
import { duration } from '../../ui/format'
import { Id } from '../../ui/id'
import { show } from '../../ui/layout'
import { ExactTime, Fact, Head } from '../../ui/parts'
import { Answer, Attempts, Deliveries } from './log'
import { behindOf, EndpointState, endpointPath, Outcome, sentOf } from './parts'
import type { ShownEndpoint } from './read'
import { Resends } from './resends'
import { Secrets } from './secrets'

/** An endpoint: how it does, its secrets, what was sent to it and what it has not taken. */
export function endpointPage(c: Visit, of: ShownEndpoint, { status, mistakes, entered }: Sent) {
  const { row, test } = of
  const write = can(c, 'webhooks:write')
  const ofSecret = entered?.has('known')
  return show(
    c,
    { title: row.url, section: 'webhooks-out', status, above: ['Webhooks out', pathsOf(c).endpoints] },
    <>
      <Head title={<span class="url">{row.url}</span>}>{write && <Actions c={c} of={of} />}</Head>
      {!ofSecret && <Wrong>{mistakes.form}</Wrong>}
      {test && (
        <section class="notice" role="status">
          The test was sent. Result: <Outcome status={test.s} error={test.x} />, after {duration(test.ms)}
          {test.a === '' ? '.' : ': '}
          {test.a !== '' && <Answer text={test.a} />}
        </section>
      )}
      {row.state === 'failing' && (
        <p class="warning" role="note">
          The last five deliveries to this endpoint failed. We send one at a time until one succeeds. If all of them
          fail for five days, the endpoint is disabled.
        </p>
      )}
      <Facts c={c} of={of} />
      <Secrets c={c} of={of} refused={ofSecret ? mistakes.form : undefined} />
      <Deliveries c={c} of={of} />
      <Resends c={c} of={of} />
      <Attempts c={c} of={of} />
    </>,
  )
}

function Actions({ c, of: { row } }: { c: Visit; of: ShownEndpoint }) {
  const at = endpointPath(c, row.id)
  return (
    <>
      <Post c={c} to={`${at}/test`} class="once">
        <button type="submit">Send a test</button>
      </Post>
      <a class="button" href={`${at}/edit`}>
        Edit
      </a>
      {row.state === 'active' ? null : (
        <Post c={c} to={`${at}/enable`}>
          <button type="submit" class="primary">
            {row.state === 'disabled' ? 'Enable' : 'Try now'}
          </button>
        </Post>
      )}
      {row.state !== 'disabled' && (
        <a class="button" href={`${at}/disable`} data-dialog>
          Disable
        </a>
      )}
      <a class="button danger" href={`${at}/delete`} data-dialog>
        Delete
      </a>
    </>
  )
}

function Facts({ c, of: { row, names, connections } }: { c: Visit; of: ShownEndpoint }) {
  const { now } = c.get('rt')
  const next = row.state !== 'disabled' && row.not_before > now ? row.not_before : null
  return (
    <dl class="facts">
      <Fact name="State">
        <EndpointState row={row} />
      </Fact>
      <Fact name="Changes pending">{behindOf(row).toLocaleString('en')}</Fact>
      <Fact name="Sends">{sentOf(row)}</Fact>
      {row.relay ? <OfRelay c={c} relay={row.relay} connections={connections} /> : null}
      <Fact name="Order">{row.ordered ? 'One at a time' : 'Up to five at once'}</Fact>
      {!row.relay && <Fact name="Object">{row.include_object ? 'Included' : 'Not included'}</Fact>}
      <Fact name="Last successful delivery">
        <ExactTime at={row.last_success_at} now={now} />
      </Fact>
      <Fact name="Last failed delivery">
        <ExactTime at={row.last_failure_at} now={now} />
      </Fact>
      {row.failing_since !== null && (
        <Fact name="Failing since">
          <ExactTime at={row.failing_since} now={now} />
        </Fact>
      )}
      {next !== null && (
        <Fact name="Next attempt">
          <ExactTime at={next} now={now} />
        </Fact>
      )}
      <Fact name="Created">
        <ExactTime at={row.created_at} now={now} />
      </Fact>
      <Fact name="Created by">{names.get(row.created_by) ?? <code>{row.created_by}</code>}</Fact>
      <Fact name="ID">
        <Id>{row.id}</Id>
      </Fact>
    </dl>
  )
}

type OfRelayProps = { c: Visit; relay: Relay; connections: ShownEndpoint['connections'] }

/** Which events a relay sends. A connection that was deleted has no name any more. */
function OfRelay({ c, relay: { connection_ids, event_types, replays }, connections }: OfRelayProps) {
  const named = connection_ids?.map((id) => {
    const name = connections.find((one) => one.id === id)?.name
    return name === undefined ? (
      <code class="line">{id}</code>
    ) : (
      <a class="line" href={`${pathsOf(c).connections}/${id}`}>
        {name}
      </a>
    )
  })
  return (
    <>
      <Fact name="Connections">{named ?? 'All'}</Fact>
      <Fact name="Event types">{event_types?.join(', ') ?? 'All'}</Fact>
      <Fact name="Replays">{replays ? 'Sent' : 'Not sent'}</Fact>
    </>
  )
}
