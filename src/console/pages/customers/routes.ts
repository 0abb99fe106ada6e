import { type Context, Hono } from 'hono'
import { CreateConsumerBody, fieldsOf } from '../../../consumers/fields'
import { findLink } from '../../../consumers/links'
import { pinCustomer, pinToNobody, unpin } from '../../../consumers/pins'
import { insertConsumer } from '../../../consumers/put'
import { refOf } from '../../../consumers/ref'
import { run } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { page, pathsOf } from '../../page'
import { parse } from '../../refusal'
import type { NoticeName } from '../../ui/notice'
import { enteredIn } from '../consumers/fields'
import { findTyped } from '../consumers/find'
import { refusedBecause } from '../consumers/refusal'
import { unpinPage } from './confirm'
import { type Forms, linkPage, opened } from './link'
import { unlinkedPage } from './list'
import { customerPath } from './paths'
import { customerIn, listUnlinked, readCustomer } from './read'

/** The customers of vendors that are not linked to a consumer. */
export const unlinkedPages = new Hono<HttpEnv>().get('/', page('billing:read'), async (c) => {
  const settled = c.req.query('settled') === 'true'
  return unlinkedPage(c, await listUnlinked(c, settled), settled)
})

/** Which consumer a customer is: link it to one, create one, say that it is none, or let events say it. */
export const customerLinkPages = new Hono<HttpEnv>()
  .get('/:vendor/:customer/consumer', page('consumers:write'), async (c) => again(c, {}))
  .post('/:vendor/:customer/consumer', page('consumers:write'), async (c) => {
    const text = (c.get('form').get('consumer') ?? '').trim()
    const found =
      text === '' ? [] : (await findTyped(c, text)).filter(({ state }) => state !== 'merged' && state !== 'erased')
    const [one] = found
    if (!one) return again(c, { text, mistakes: { consumer: NOBODY_FOUND }, status: 422 })
    if (found.length > 1) return again(c, { text, found })
    try {
      await pinCustomer(c.get('rt').db, named(c), { id: one.id }, changeOf(c))
      return toConsumer(c, one.id, 'customer_linked')
    } catch (error) {
      const { mistakes, status } = refusedBecause(error)
      return again(c, { text, mistakes: { consumer: mistakes.form ?? '' }, status })
    }
  })
  .post('/:vendor/:customer/consumer/new', page('consumers:write'), async (c) => {
    const { db, now } = c.get('rt')
    const { project_id, customer } = named(c)
    const entered = enteredIn(c.get('form'))
    try {
      const { external_id, email, name } = entered
      const filled = Object.entries({ external_id, email, name }).filter(([, text]) => text !== '')
      const fields = fieldsOf(parse(CreateConsumerBody, Object.fromEntries(filled)))
      const { id } = await insertConsumer(db, project_id, fields, now)
      // If events name the new external id, the link holds by itself.
      const [link] = await run(db, findLink(db, project_id, customer))
      if (link?.consumer_id !== id) await pinCustomer(db, { project_id, customer }, { id }, changeOf(c))
      return toConsumer(c, id, 'customer_linked')
    } catch (error) {
      return again(c, { entered, ...refusedBecause(error) })
    }
  })
  .post('/:vendor/:customer/nobody', page('consumers:write'), async (c) => {
    await pinToNobody(c.get('rt').db, named(c), changeOf(c))
    return c.redirect(`${customerPath(c, customerIn(c))}?done=customer_without_consumer`, 303)
  })
  .get('/:vendor/:customer/unpin', page('consumers:write'), async (c) => {
    const { link } = await readCustomer(c)
    return unpinPage(c, link, consumerIn(c.req.query('from')))
  })
  .post('/:vendor/:customer/unpin', page('consumers:write'), async (c) => {
    await unpin(c.get('rt').db, named(c), changeOf(c))
    const from = consumerIn(c.get('form').get('from'))
    if (from !== null) return toConsumer(c, from, 'customer_unpinned')
    return c.redirect(`${customerPath(c, customerIn(c))}/consumer?done=customer_unpinned`, 303)
  })

const NOBODY_FOUND = 'No consumer has this ID or email address. You can create one below.'

/** The page with its forms as they were sent. */
async function again(c: Context<HttpEnv>, sent: Partial<Forms>) {
  const of = await readCustomer(c)
  return linkPage(c, of, { ...opened(of), ...sent })
}

function named(c: Context<HttpEnv>) {
  return { project_id: projectOf(c.get('actor')), customer: customerIn(c) }
}

/** The id of a consumer that a page names as the place to return to; null if there is none. */
function consumerIn(text: string | null | undefined): string | null {
  const ref = text ? refOf(text) : null
  return ref && 'id' in ref ? ref.id : null
}

function toConsumer(c: Context<HttpEnv>, id: string, done: NoticeName) {
  return c.redirect(`${pathsOf(c).consumers}/${id}?done=${done}`, 303)
}
