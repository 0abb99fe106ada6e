import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { show } from '../../ui/layout'

/** Where a script puts the viewer. */
export function referencePage(c: Context<HttpEnv>) {
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
