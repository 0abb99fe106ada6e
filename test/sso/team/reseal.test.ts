import { expect, it } from 'vitest'
import { bound, call, DIRECTORY, lossyQueue } from '../../harness'
import { cron } from '../../inbox/pipeline'
import { signIn, team } from './team'

it('a client secret moves to a newer encryption key, and signs in with it; health counts it until then', async () => {
  const of = await team()
  const keyOf = () =>
    DIRECTORY.prepare("SELECT secret ->> 'key' AS key FROM sso_connections WHERE id = ?")
      .bind(of.connection)
      .first('key')
  expect(await keyOf()).toBe(1)
  const keys = { ENCRYPTION_KEY_1: bound.ENCRYPTION_KEY_1 as string, ENCRYPTION_KEY_2: btoa('2'.repeat(32)) }
  const left = async (bindings: object) => {
    const path = '/platform/v1/billing/webhooks/health'
    return (await call(path, { project: of.project, token: of.owner.token, bindings })).body.secrets_to_reseal
  }
  expect([await left({}), await left(keys)]).toEqual([0, 1])
  for (let run = 0; run < 3; run++) await cron({ ...keys, EVENTS: lossyQueue().EVENTS })
  expect([await keyOf(), await left(keys)]).toEqual([2, 0])
  const { token } = await signIn(of, { sub: 'ada', email: `ada@${of.domain}` }, { options: { bindings: keys } })
  expect(token).not.toBeNull()
})
