import { utf8 } from '../../src/lib/crypto'
import { newId } from '../../src/lib/ids'
import { seal, sealContext } from '../../src/lib/seal'
import { STORE } from '../harness'

/** The encryption key of the tests' deployment. */
export const KEY_RING = new Map([[1, utf8('k'.repeat(32))]])

/** An endpoint with two secrets, written to the database. Nothing is sent to it. */
export async function insertEndpoint(project: string, user: string, now = Date.now()) {
  const id = newId('whe', now)
  const secrets = await Promise.all(
    ['first', 'second'].map(async () => {
      const secret = newId('sec', now)
      const box = await seal(KEY_RING, `whsec_${btoa('s'.repeat(24))}`, sealContext(project, id, secret))
      return { id: secret, hint: 'czcw', created_at: now, added_by: user, ...box }
    }),
  )
  await STORE.prepare(
    `INSERT INTO webhook_endpoints (project_id, id, url, types, not_before, secrets, created_at, created_by, epoch, position)
     VALUES (?, ?, 'https://sample.plain.dev/hook', '["webhook_endpoint.*","consumer.*"]', 9000000000000, ?, ?, ?,
       (SELECT epoch FROM changes_epoch), 0)`,
  )
    .bind(project, id, JSON.stringify(secrets), now, user)
    .run()
  return { id, secrets }
}
