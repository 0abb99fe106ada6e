import { Hono } from 'hono'
import { changeOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { readConnection } from '../../../inbox/connections/connection'
import { ingestUrl } from '../../../inbox/connections/present'
import { tryVerification } from '../../../inbox/connections/try-verification'
import { setVerification, unsupported } from '../../../inbox/connections/verification'
import { verificationOf } from '../../../vendors/verification-fields'
import { action } from '../../action'
import { page, type Visit } from '../../page'
import { type Sent, UNSENT } from '../../refusal'
import { connectionPath } from './describe'
import { addressedConnection } from './read'
import { triedDelivery } from './trial'
import { VERIFICATION, verificationPage } from './verification'

const set = action({
  posts: '/:id/verification',
  needs: 'connections:write',
  run: (c) => {
    const verification = verificationOf(VERIFICATION.body(c.get('form')))
    return setVerification(c.get('rt'), addressedConnection(c), verification, changeOf(c))
  },
  done: (c) => [connectionPath(c, addressedConnection(c)), 'verification_set'],
  again: shown,
})

const trial = action({
  posts: '/:id/verification/try',
  needs: 'connections:write',
  run: async (c) => {
    const row = await find(c)
    const delivery = { ...triedDelivery(c.get('form')), url: ingestUrl(c, row.id) }
    return { row, result: await tryVerification(c.get('rt'), row, delivery) }
  },
  done: (c, { row, result }) => verificationPage(c, { row, sent: UNSENT, trial: { result, form: c.get('form') } }),
  again: shown,
})

/** The pages of a connection's verification. */
export const verificationPages = new Hono<HttpEnv>()
  .get('/:id/verification', page('connections:write'), (c) => shown(c, UNSENT))
  .route('/', set)
  .route('/', trial)

/** @throws {Fault} `not_found`; `verification_unsupported` for a vendor that is known */
async function find(c: Visit) {
  const { project_id, id } = addressedConnection(c)
  const row = await readConnection(c.get('rt').db, project_id, id)
  if (row.vendor !== 'hmac') throw unsupported(row)
  return row
}

async function shown(c: Visit, sent: Sent) {
  return verificationPage(c, { row: await find(c), sent })
}
