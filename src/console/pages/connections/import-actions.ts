import { Hono } from 'hono'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { cancelImport, startImport } from '../../../inbox/imports/start'
import { action } from '../../action'
import type { Visit } from '../../page'
import type { Sent } from '../../refusal'
import { connectionPath } from './describe'
import { IMPORT } from './imports'
import { addressedConnection } from './read'

/** The forms of imports. @param shown shows the connection again, with what was wrong */
export function importActions(shown: (c: Visit, sent: Sent) => Response | Promise<Response>): Hono<HttpEnv> {
  const start = action({
    posts: '/:id/imports',
    needs: 'connections:write',
    counted: { costly: true },
    run: (c) => startImport(c.get('rt'), connectionOf(c), IMPORT.body(c.get('form')), changeOf(c)),
    done: (c) => [connectionPath(c, addressedConnection(c)), 'import_started'],
    again: shown,
  })
  const cancel = action({
    posts: '/:id/imports/:import/cancel',
    needs: 'connections:write',
    counted: { ends: true },
    run: (c) => cancelImport(c.get('rt').db, { ...connectionOf(c), id: c.req.param('import') ?? '' }, changeOf(c)),
    done: (c) => [connectionPath(c, addressedConnection(c)), 'import_canceled'],
  })
  return new Hono<HttpEnv>().route('/', start).route('/', cancel)
}

function connectionOf(c: Visit) {
  return { project_id: projectOf(c.get('actor')), connection_id: c.req.param('id') ?? '' }
}
