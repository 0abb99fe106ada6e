import { Hono } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { comeBack, openLink } from '../../../sso/login/protocol'
import { page } from '../../page'
import { goOn } from './onward'

/** What browsers pass on the way to a provider and back. Nobody is signed in yet. HEAD uses nothing up. */
export const ssoPages = new Hono<HttpEnv>()
  .get('/login/:login_id', page('anyone'), async (c) =>
    c.req.method === 'HEAD' ? c.body(null) : goOn(c, await openLink(c, c.req.param('login_id'))),
  )
  .get('/callback/:connection_id', page('anyone'), async (c) =>
    c.req.method === 'HEAD' ? c.body(null) : goOn(c, await comeBack(c, c.req.param('connection_id'))),
  )
