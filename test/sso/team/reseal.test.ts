import { expect, it } from 'vitest'
import { bound, DIRECTORY, lossyQueue } from '../../harness'
import { cron } from '../../inbox/pipeline'
import { signIn, team } from './team'

it('a client secret moves to a newer encryption key, and signs in with it', async () => {
  const of = await team()
  const keyOf = () =>
    DIRECTORY.prepare("SELECT secret ->> 'key' AS key FROM sso_connections WHERE id = ?")
      .bind(of.connection)
      .first('key')
  expect(await keyOf()).toBe(1)
  const keys = { ENCRYPTION_KEY_1: bound.ENCRYPTION_KEY_1 as string, ENCRYPTION_KEY_2: btoa('2'.repeat(32)) }
  for (let run = 0; run < 3; run++) await cron({ ...keys, EVENTS: lossyQueue().EVENTS })
  expect(await keyOf()).toBe(2)
  const { token } = await signIn(of, { sub: 'ada', email: `ada@${of.domain}` }, { options: { bindings: keys } })
  expect(token).not.toBeNull()
})
