import type { Context } from 'hono'
import type { Link } from '../../../consumers/links'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'
import { Confirm } from '../../ui/confirm'
import { show } from '../../ui/layout'
import { customerPath } from './paths'

/** Asks before a customer is unpinned. @param from the consumer whose page led here; null for the customer's own pages */
export function unpinPage(c: Context<HttpEnv>, link: Link, from: string | null) {
  const path = customerPath(c, link)
  const back = from === null ? `${path}/consumer` : `${pathsOf(c).consumers}/${from}`
  return show(
    c,
    { title: 'Unpin customer', section: 'unlinked', above: [link.id, back] },
    <Confirm
      c={c}
      title={`Unpin ${link.id}?`}
      to={`${path}/unpin`}
      verb="Unpin customer"
      back={back}
      danger
      choice={from !== null && <input type="hidden" name="from" value={from} autocomplete="off" />}
    >
      <p>
        Events, including past ones, then decide again which consumer the customer is. If no event names a consumer, the
        customer is unlinked. You can pin it again.
      </p>
    </Confirm>,
  )
}
