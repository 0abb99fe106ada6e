import { Hono } from 'hono'
import { changeOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { ingestUrl } from '../../../inbox/connections/present'
import { checkWhenAsked } from '../../../inbox/vendor-endpoints/check'
import { setUpEndpoint } from '../../../inbox/vendor-endpoints/set-up'
import { action } from '../../action'
import type { Visit } from '../../page'
import type { Explained, Sent } from '../../refusal'
import { connectionPath } from './describe'
import { SET_UP } from './endpoint'
import { addressedConnection } from './read'

const EXPLAINED_HERE: Explained = {
  api_key_invalid: true,
  api_key_too_powerful: true,
  api_key_other_mode: true,
  api_key_lacks_permission: true,
  ingest_url_not_public: true,
  vendor_failed: true,
  api_key_missing: 'The connection has no API key that the vendor accepts. Set one first.',
}

/** The forms of the endpoint at the vendor. @param shown shows the connection again, with what was wrong */
export function vendorEndpointActions(shown: (c: Visit, sent: Sent) => Response | Promise<Response>): Hono<HttpEnv> {
  const setUp = action({
    posts: '/:id/endpoint',
    needs: 'connections:write',
    counted: { costly: true },
    run: (c) => {
      const { of, url } = placeOf(c)
      const { write_key, ...more } = SET_UP.body(c.get('form'))
      return setUpEndpoint(c.get('rt'), of, { api_key: write_key, events: 'needed', url, ...more }, changeOf(c))
    },
    done: (c, { did, dry_run }) => [
      connectionPath(c, addressedConnection(c)),
      dry_run ? 'vendor_endpoint_checked' : `vendor_endpoint_${did}`,
    ],
    again: shown,
    explains: EXPLAINED_HERE,
  })
  const check = action({
    posts: '/:id/endpoint/check',
    needs: 'connections:read',
    counted: { costly: true },
    run: (c) => {
      const { of, url } = placeOf(c)
      return checkWhenAsked(c.get('rt'), of, url)
    },
    done: (c) => [connectionPath(c, addressedConnection(c)), 'vendor_endpoint_checked'],
    again: shown,
    explains: EXPLAINED_HERE,
  })
  return new Hono<HttpEnv>().route('/', setUp).route('/', check)
}

function placeOf(c: Visit) {
  const { project_id, id } = addressedConnection(c)
  return { of: { project_id, connection_id: id }, url: ingestUrl(c, id) }
}
