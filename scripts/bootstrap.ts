/*
 * npm run bootstrap -- --owner EMAIL [--remote]: the first user of a deployment, who can then sign in although SIGN_UP is
 * "invited". Repeating it changes nothing.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import * as z from 'zod'
import { newId } from '../src/lib/ids.ts'
import { execute, literal, migrate, type Target } from './lib/d1.ts'
import { DEPLOY_CONFIG } from './lib/deploy-config.ts'
import { ROOT } from './lib/paths.ts'
import { fail, run } from './lib/terminal.ts'

const USAGE = 'Usage: npm run bootstrap -- --owner EMAIL [--remote]'

await run(async () => {
  const { values } = parseArgs({ options: { owner: { type: 'string' }, remote: { type: 'boolean', default: false } } })
  if (values.owner === undefined) fail(USAGE)
  const parsed = z.email().max(254).safeParse(values.owner.trim().toLowerCase())
  if (!parsed.success) fail(`${JSON.stringify(values.owner)} is no e-mail address.\n${USAGE}`)
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
