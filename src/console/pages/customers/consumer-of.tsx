import type { Context } from 'hono'
import type { Link } from '../../../consumers/links'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'
import { LinkedBy } from '../consumers/links'

/** Which consumer a customer is, and what says so. */
export function ConsumerOf({ c, link }: { c: Context<HttpEnv>; link: Link }) {
  const { consumer_id, external_id, linked_by } = link
  if (link.erased) return <>None: its consumer was erased.</>
  if (linked_by === null) return <span class="quiet">None. No event names one.</span>
  const why = (
    <span class="hint">
      <LinkedBy c={c} of={link} />
    </span>
  )
  if (consumer_id !== null) {
    return (
      <>
        <a href={`${pathsOf(c).consumers}/${consumer_id}`}>{external_id ?? consumer_id}</a> {why}
      </>
    )
  }
  if (linked_by === 'manual') return <>No consumer {why}</>
  return (
    <>
      None: no consumer has the ID <code>{external_id}</code> {why}
    </>
  )
}
