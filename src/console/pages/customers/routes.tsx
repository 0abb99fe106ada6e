import { Hono } from 'hono'
import { findLink } from '../../../consumers/links'
import { pinCustomer, pinToNobody, unpin } from '../../../consumers/pins'
import { insertConsumer } from '../../../consumers/put'
import type { Consumer } from '../../../consumers/read'
import { refOf } from '../../../consumers/ref'
import { run } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { countRefresh } from '../../../inbox/refresh/rate'
import { refreshCustomer } from '../../../inbox/refresh/refresh'
import { action, leadTo } from '../../action'
import { page, pathsOf, type Visit } from '../../page'
import { Refused, UNSENT } from '../../refusal'
import { findExact, findTyped } from '../consumers/find'
import { CONSUMER } from '../consumers/form'
import { isLiving } from '../consumers/read'
import { linkCustomerPage } from './link'
import { unlinkedPage } from './list'
import { customerIn, customerPath, listUnlinked, readCustomer, type ShownCustomer } from './read'
import { linkChosen } from './several'

/** The customers of vendors that are not linked to a consumer, and the ones of them that are linked together. */
export const unlinkedPages = new Hono<HttpEnv>()
  .get('/', page('billing:read'), async (c) => {
    const settled = c.req.query('settled') === 'true'
    return unlinkedPage(c, await listUnlinked(c, settled), settled)
  })
  .route('/', linkChosen)

const link = action({
  at: '/:vendor/:customer/consumer',
  needs: 'consumers:write',
  read: readCustomer,
  ask: async (c, of, sent) => {
    const { form: consumer, ...mistakes } = sent.mistakes
    return linkCustomerPage(c, of, {
      creating: UNSENT,
      linking: { ...sent, mistakes: consumer === undefined ? mistakes : { consumer } },
      same: await withSameAddress(c, of),
    })
  },
  run: async (c) => {
    const text = (c.get('form').get('consumer') ?? '').trim()
    const typed = await findTyped(c, text)
    const found = typed.found.filter(isLiving)
    const [one] = found
    if (!one)
      throw new Refused({ consumer: 'No consumer matches this name, email address or ID. You can create one below.' })
    if (found.length > 1 || !typed.exact) {
      const linking = { ...UNSENT, entered: c.get('form') }
      return linkCustomerPage(c, await readCustomer(c), { linking, creating: UNSENT, found, more: typed.more })
    }
    await pinCustomer(c.get('rt').db, named(c), { id: one.id }, changeOf(c))
    return leadTo(c, consumerPath(c, one.id), 'customer_linked')
  },
  done: (_, response) => response,
})

const create = action({
  posts: '/:vendor/:customer/consumer/new',
  needs: 'consumers:write',
  read: readCustomer,
  ask: (c, of, sent) => linkCustomerPage(c, of, { linking: UNSENT, creating: sent }),
  run: async (c) => {
    const { db } = c.get('rt')
    const { project_id, customer } = named(c)
    const { id } = await insertConsumer(db, project_id, CONSUMER.body(c.get('form')), changeOf(c))
    // If events name the new external id, the link holds by itself.
    const [link] = await run(db, findLink(db, project_id, customer))
    if (link?.consumer_id !== id) await pinCustomer(db, { project_id, customer }, { id }, changeOf(c))
    return id
  },
  done: (c, id) => [consumerPath(c, id), 'customer_linked'],
})

const toNobody = action({
  posts: '/:vendor/:customer/nobody',
  needs: 'consumers:write',
  run: (c) => pinToNobody(c.get('rt').db, named(c), changeOf(c)),
  done: (c) => [customerPath(c, customerIn(c)), 'customer_without_consumer'],
})

/** The consumer whose page led here is in the address, and then in the form. */
const unpinPages = action({
  at: '/:vendor/:customer/unpin',
  needs: 'consumers:write',
  read: readCustomer,
  ask: (c, { link }, { entered }) => {
    const from = consumerIn(entered?.get('from') ?? c.req.query('from'))
    const back = from === null ? `${customerPath(c, link)}/consumer` : consumerPath(c, from)
    return {
      title: 'Unpin customer',
      section: 'unlinked',
      above: [link.id, back],
      question: `Unpin ${link.id}?`,
      says: (
        <p>
          Events, including past ones, then decide again which consumer the customer is linked to. If no event
          identifies a consumer, the customer is unlinked. You can pin it again.
        </p>
      ),
      choice: from !== null && <input type="hidden" name="from" value={from} autocomplete="off" />,
      verb: 'Unpin customer',
      danger: true,
    }
  },
  run: (c) => unpin(c.get('rt').db, named(c), changeOf(c)),
  done: (c) => {
    const from = consumerIn(c.get('form').get('from'))
    return [from === null ? `${customerPath(c, customerIn(c))}/consumer` : consumerPath(c, from), 'customer_unpinned']
  },
})

/** What the page says after a refresh. */
const REFRESHED = {
  fresh: 'customer_refreshed',
  partial: 'customer_refreshed_partly',
  stale: 'customer_not_refreshed',
} as const

const refresh = action({
  posts: '/:vendor/:customer/refresh',
  needs: 'billing:write',
  run: async (c) => {
    const { project_id, customer } = named(c)
    await countRefresh(c.get('rt'), project_id)
    return refreshCustomer(c.get('rt'), project_id, customer)
  },
  done: (c, { state }) => [customerPath(c, customerIn(c)), REFRESHED[state]],
})

/** A customer: ask the vendor for it now; link it to a consumer, create one, say that it is none, or let events say it. */
export const customerLinkPages = new Hono<HttpEnv>()
  .route('/', link)
  .route('/', create)
  .route('/', toNobody)
  .route('/', unpinPages)
  .route('/', refresh)

/** The consumers that have the email address of a customer, without the one that it is linked to. */
async function withSameAddress(c: Visit, { link, email }: ShownCustomer): Promise<Consumer[]> {
  if (email === null) return []
  const found = await findExact(c, email)
  return found.filter((row) => row.id !== link.consumer_id && isLiving(row))
}

const consumerPath = (c: Visit, id: string) => `${pathsOf(c).consumers}/${id}?tab=billing`

function named(c: Visit) {
  return { project_id: projectOf(c.get('actor')), customer: customerIn(c) }
}

/** The id of a consumer that a page names as the place to return to; null if there is none. */
function consumerIn(text: string | null | undefined): string | null {
  const ref = text ? refOf(text) : null
  return ref && 'id' in ref ? ref.id : null
}
