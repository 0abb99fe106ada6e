import { type Context, Hono } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { page } from '../../page'
import { show } from '../../ui/layout'

/** The API reference: a viewer over /openapi.json, for any signed-in user. */
export const referencePages = new Hono<HttpEnv>()
  .get('/reference', page('user'), reference)
  .get('/p/:project/reference', page('projects:read'), reference)

function reference(c: Context<HttpEnv>) {
  return show(
    c,
    { title: 'API reference', section: 'reference', viewer: true },
    <>
      <h1>API reference</h1>
      <p>
        As served at <a href="/openapi.json">/openapi.json</a>. The viewer needs JavaScript; every error code is at{' '}
        <a href="/errors">/errors</a>.
      </p>
      <h2>Operations</h2>
      <div id="reference" />
    </>,
  )
}
