import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { show } from '../../ui/layout'

/** The page that a script loads the viewer into. */
export function referencePage(c: Context<HttpEnv>) {
  return show(
    c,
    { title: 'API reference', section: 'reference', viewer: true },
    <>
      <h1>API reference</h1>
      <p>
        This page shows the API description from <a href="/openapi.json">/openapi.json</a>. It requires JavaScript. All
        error codes are listed at <a href="/errors">/errors</a>.
      </p>
      <h2>Operations</h2>
      <div id="reference" />
    </>,
  )
}
