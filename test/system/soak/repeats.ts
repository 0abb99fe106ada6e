import { randomBytes } from 'node:crypto'
import { sleep } from '../../../scripts/lib/terminal.ts'
import { call } from './call.ts'
import type { Tenant } from './ledger.ts'
import type { Run } from './load.ts'

const AGAIN_MS = 300

/** Creates a consumer with an Idempotency-Key, until it is answered, and once more: it must be the same one. */
export async function createOnce(run: Run, tenant: Tenant): Promise<void> {
  const key = `soak-${randomBytes(12).toString('hex')}`
  const id = await untilCreated(run, tenant, key)
  tenant.consumers.push(id)
  const again = await untilCreated(run, tenant, key)
  if (again !== id) run.broken.push(`${tenant.name}: a repeated request made ${again} after ${id}`)
}

async function untilCreated(run: Run, { token, project }: Tenant, key: string): Promise<string> {
  for (;;) {
    const { status, body } = await call<{ id: string }>(`${run.url}/platform/v1/consumers`, {
      ...{ token, project, json: { name: key } },
      headers: { 'Idempotency-Key': key },
    })
    if (status === 201) return body.id
    // 409: the first request may be under way still, or the lease of one that died has not ended.
    if (status >= 400 && status < 500 && status !== 409)
      run.broken.push(`a consumer with an Idempotency-Key got ${status}: ${JSON.stringify(body)}`)
    await sleep(AGAIN_MS)
  }
}
