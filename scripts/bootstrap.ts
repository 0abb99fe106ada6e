/*
 * npm run bootstrap -- --owner EMAIL [--remote]: creates the first user of a deployment, who can then sign in even if
 * SIGN_UP is "invited". Running it again changes nothing.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { newId } from '../src/lib/ids.ts'
import { execute, literal, migrateLocal, type Target } from './lib/d1.ts'
import { DEPLOY_CONFIG } from './lib/deploy-config.ts'
import { misused, readFlags } from './lib/flags.ts'
import { ROOT } from './lib/paths.ts'
import { fail, run } from './lib/terminal.ts'

const COMMAND = {
  usage: 'npm run bootstrap -- --owner EMAIL [--remote]',
  about: 'Creates the first user of a deployment, who can then sign in even if SIGN_UP is "invited".',
  flags: {
    owner: { type: 'string', takes: 'EMAIL', help: 'the email address of the user' },
    remote: { type: 'boolean', help: 'use the deployed database instead of the local one' },
  },
} as const

await run(async () => {
  const { values } = readFlags(COMMAND)
  if (values.owner === undefined) misused(COMMAND, '--owner is missing')
  const parsed = z.email().max(254).safeParse(values.owner.trim().toLowerCase())
  if (!parsed.success) misused(COMMAND, `${JSON.stringify(values.owner)} is not an email address`)
  const email = parsed.data
  const target = values.remote ? remote() : 'local'
  if (target === 'local') await migrateLocal()

  const now = Date.now()
  const user = [newId('usr', now), email, now].map(literal).join(', ')
  const results = await execute(
    target,
    `INSERT INTO users (id, email, created_at) VALUES (${user}) ON CONFLICT DO NOTHING;
     SELECT id, created_at FROM users WHERE email = ${literal(email)}`,
  )
  const row = results.at(-1)?.[0]
  if (!row) fail(`The user was not created. Have the migrations been applied?`)
  const where = values.remote ? 'the deployed database' : 'the local database'
  console.log(`${email} is ${row.created_at === now ? 'now' : 'already'} a user of ${where}: ${row.id}

Next: sign in with this address (POST /auth/codes, then POST /auth/sessions) and create a project
(POST /platform/v1/projects). The creator of a project is its owner.`)
})

function remote(): Target {
  if (!existsSync(join(ROOT, DEPLOY_CONFIG))) {
    fail(`${DEPLOY_CONFIG} is missing. Run npm run deploy first: it writes this file with the id of the database.`)
  }
  return { config: DEPLOY_CONFIG }
}
