import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { can, pathsOf } from '../../page'
import { UNSENT } from '../../refusal'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { Facts, Standing } from './facts'
import type { Shown } from './read'
import { Refused } from './refused'
import { Secrets } from './secrets'
import { Settings } from './settings'
import { Guidance, IngestUrl, Setup } from './setup'

/**
 * A connection. Until it has received its first event, the page begins with what is left to do.
 *
 * @param suggested a secret for vendors that sign with one that you choose
 * @param entered the name in the form
 */
export function connectionPage(
  c: Context<HttpEnv>,
  of: Shown & { suggested: string },
  { mistakes, status } = UNSENT,
  entered = of.row.name,
) {
  const { row, names, suggested } = of
  const { connections, events } = pathsOf(c)
  const isNew = row.last_event_id === null
  return show(
    c,
    { title: row.name, section: 'connections', status, above: ['Connections', connections] },
    <>
      <Head
        title={
          <>
            {row.name} <Standing row={row} />
          </>
        }
      >
        {!isNew && (
          <a class="button" href={`${events}?connection_id=${row.id}`}>
            View events
          </a>
        )}
      </Head>
      {row.status === 'disabled' && (
        <p class="warning" role="note">
          This connection is disabled and refuses every delivery.
        </p>
      )}
      {isNew || row.secrets.length === 0 ? (
        <Setup c={c} of={of} mistakes={mistakes} suggested={suggested} />
      ) : (
        <>
          <h2>Ingest URL</h2>
          <IngestUrl c={c} row={row} />
          <Guidance vendor={row.vendor} />
        </>
      )}
      <h2>Details</h2>
      <Facts c={c} of={of} />
      {!isNew && <Refused c={c} of={of} />}
      {row.secrets.length > 0 && <Secrets c={c} row={row} names={names} mistakes={mistakes} />}
      {can(c, 'connections:write') && <Settings c={c} row={row} entered={entered} mistakes={mistakes} />}
    </>,
  )
}
