import { Hono } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { page, type Visit } from '../../page'
import { projectPaths } from '../../paths'
import { userOf } from '../../session'
import { show } from '../../ui/layout'

/** The page that a script loads the viewer into. */
export function referencePage(c: Visit) {
  return show(
    c,
    { title: 'API reference', section: 'reference', viewer: true },
    <>
      <h1>API reference</h1>
      <Authorizing c={c} />
      <p>
        The description itself is at <a href="/openapi.json">/openapi.json</a>, and the error codes are at{' '}
        <a href="/errors">/errors</a>. The <a href="/docs">documentation</a> has guides. This page requires JavaScript.
      </p>
      <h2>Operations</h2>
      <div id="reference" />
    </>,
  )
}

/** How to make calls from the viewer, and where the key comes from. */
function Authorizing({ c }: { c: Visit }) {
  const { project_id } = userOf(c)
  return (
    <p>
      To make calls from this page, choose <strong>Authorize</strong> first, and paste the secret of an API key into{' '}
      <strong>api_key</strong>.{' '}
      {project_id === null ? (
        <>
          You create keys in a <a href="/console">project</a>, under API keys.
        </>
      ) : (
        <>
          You create keys under <a href={projectPaths(project_id).keys}>API keys</a>. The <code>X-Project-Id</code> of
          your project is <code>{project_id}</code>.
        </>
      )}{' '}
      The secret of a key is shown only once, when you create or rotate it.
    </p>
  )
}

/** The API reference: a viewer for /openapi.json. Any signed-in user can read it. */
export const referencePages = new Hono<HttpEnv>()
  .get('/reference', page('user'), referencePage)
  .get('/p/:project/reference', page('projects:read'), referencePage)
