/*
 * npm run bootstrap -- --owner EMAIL [--remote]: the first user of a deployment, who can then sign in although SIGN_UP is
 * "invited". Repeating it changes nothing.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { newId } from '../src/lib/ids.ts'
import { execute, literal, migrate, type Target } from './lib/d1.ts'
import { DEPLOY_CONFIG } from './lib/deploy-config.ts'
import { misused, readFlags } from './lib/flags.ts'
import { ROOT } from './lib/paths.ts'
import { fail, run } from './lib/terminal.ts'

const COMMAND = {
  usage: 'npm run bootstrap -- --owner EMAIL [--remote]',
  about: 'Makes the first user of a deployment, who can then sign in although SIGN_UP is "invited".',
  flags: {
    owner: { type: 'string', takes: 'EMAIL', help: 'the address of the user' },
    remote: { type: 'boolean', help: 'in the deployed database, not in the local one' },
  },
} as const

await run(async () => {
  const { values } = readFlags(COMMAND)
  if (values.owner === undefined) misused(COMMAND, '--owner is missing')
  const parsed = z.email().max(254).safeParse(values.owner.trim().toLowerCase())
  if (!parsed.success) misused(COMMAND, `${JSON.stringify(values.owner)} is no e-mail address`)
  const email = parsed.data
  const target = values.remote ? remote() : 'local'
  if (target === 'local') await migrate(target)

  const now = Date.now()
  const user = [newId('usr', now), email, now].map(literal).join(', ')
  const results = await execute(
    target,
    `INSERT INTO users (id, email, created_at) VALUES (${user}) ON CONFLICT DO NOTHING;
     SELECT id, created_at FROM users WHERE email = ${literal(email)}`,
  )
  const row = results.at(-1)?.[0]
  if (!row) fail(`The user was not written. Have the migrations been applied?`)
  const where = values.remote ? 'the deployed database' : 'the local database'
  console.log(`${email} is ${row.created_at === now ? 'now' : 'already'} a user of ${where}: ${row.id}

Next: ask for a sign-in code with this address (POST /auth/codes, then POST /auth/sessions), and make a project
(POST /platform/v1/projects): whoever makes a project is its owner.`)
})

function remote(): Target {
  if (!existsSync(join(ROOT, DEPLOY_CONFIG))) {
    fail(`${DEPLOY_CONFIG} is missing: npm run deploy writes it, with the ids of the deployed database. Deploy first.`)
  }
  return { config: DEPLOY_CONFIG }
}
