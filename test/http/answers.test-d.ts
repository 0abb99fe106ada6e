import { Hono } from 'hono'
import * as z from 'zod'
import { answer } from '../../src/http/answer'
import type { HttpEnv } from '../../src/http/context'
import { listOf, paging } from '../../src/http/page'
import { route } from '../../src/http/route'
import { body } from '../../src/http/validate'

/*
 * What the compiler must say of answers: `npm run check` compiles this file, and nothing runs it. Each line below an
 * expected error must have one: an answer that began to pass would be an error itself.
 */

const Thing = z.object({ id: z.string(), size: z.int().nullable(), kind: z.enum(['big', 'small']) })
const Other = z.object({ id: z.string() })
const thing = { id: 'a', size: null, kind: 'big' } as const
const responses = {
  200: { description: 'It was there.', schema: Thing },
  201: { description: 'It is new.', schema: Thing },
  202: { description: 'Another body.', schema: Other },
  204: { description: 'No body.' },
}
const operation = { id: 'x', summary: 'x', description: 'x', tag: 'Service', policy: null, responses } as const

new Hono<HttpEnv>()
  .get('/fits', route(operation), (c) => answer(c, thing, 200))
  .get('/fits-both', route(operation), (c) => answer(c, thing, c.req.query('new') ? 201 : 200))
  .get('/empty', route(operation), (c) => answer(c, null, 204))
  // @ts-expect-error a field is missing
  .get('/missing', route(operation), (c) => answer(c, { id: 'a', size: null }, 200))
  // @ts-expect-error a field has another type
  .get('/type', route(operation), (c) => answer(c, { ...thing, size: '1' }, 200))
  // @ts-expect-error a field has a value that its list of values lacks
  .get('/value', route(operation), (c) => answer(c, { ...thing, kind: 'medium' }, 200))
  // @ts-expect-error a time is a text, and this is an object that becomes one
  .get('/date', route(operation), (c) => answer(c, { ...thing, id: new Date(0) }, 200))
  // @ts-expect-error a field is not declared
  .get('/more', route(operation), (c) => answer(c, { id: 'a', secret: 'b' }, 202))
  // @ts-expect-error the status is not declared
  .get('/status', route(operation), (c) => answer(c, thing, 203))
  // @ts-expect-error the body belongs to another status
  .get('/other', route(operation), (c) => answer(c, { id: 'a' }, 200))
  // @ts-expect-error the body fits one of the two statuses
  .get('/one-of-two', route(operation), (c) => answer(c, { id: 'a' }, c.req.query('new') ? 200 : 202))
  // @ts-expect-error the status has no body
  .get('/no-body', route(operation), (c) => answer(c, thing, 204))
  // @ts-expect-error the status has a body
  .get('/a-body', route(operation), (c) => answer(c, null, 200))
  // @ts-expect-error the handler is behind no route
  .get('/no-route', (c) => answer(c, thing, 200))

const list = { ...operation, responses: { 200: { description: 'A page.', schema: listOf(Thing) } } }
const { page } = paging('things', { limit: 1 })

new Hono<HttpEnv>()
  // A validator between the two changes nothing.
  .get('/list', route(list), body(Thing), (c) =>
    answer(
      c,
      page([c.req.valid('json')], (row) => row),
      200,
    ),
  )
  .get('/rows', route(list), body(Thing), (c) => {
    const ids = page([c.req.valid('json')], ({ id }) => ({ id }))
    // @ts-expect-error a row lacks fields
    return answer(c, ids, 200)
  })
