/*
 * npm run bootstrap -- --owner EMAIL [--project NAME [--key NAME --preset PRESET]] [--remote]: creates the first user of a deployment, who can
 * then sign in even if SIGN_UP is "invited". It can also create a first project and API key. With the same names, it can be run again.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { newId } from '../src/lib/ids.ts'
import { APPLICATION } from '../src/lib/key-presets.ts'
import { execute, literal, type Target } from './lib/d1.ts'
import { DEPLOY_CONFIG, deployText, ownOf } from './lib/deploy-config.ts'
import { KEY_PRESETS, makeFirstKey } from './lib/first-key.ts'
import { misused, readFlags } from './lib/flags.ts'
import { ROOT } from './lib/paths.ts'
import { prepareLocal } from './lib/prepare.ts'
import { serverUrl } from './lib/running.ts'
import { fail, run } from './lib/terminal.ts'

const COMMAND = {
  usage: 'npm run bootstrap -- --owner EMAIL [--project NAME [--key NAME]] [options]',
  about: `Creates the first user of a deployment, who can then sign in even if SIGN_UP is "invited". With --project, it also
creates a project that the user owns. With --key, it also creates an API key, and prints its secret once. A project or key that
already has the name is kept.`,
  flags: {
    owner: { type: 'string', takes: 'EMAIL', help: 'the email address of the user' },
    project: { type: 'string', takes: 'NAME', help: 'the name of a project' },
    key: { type: 'string', takes: 'NAME', help: 'the name of an API key of the project' },
    preset: {
      type: 'string',
      takes: 'PRESET',
      default: APPLICATION.name,
      help: `what the key is for: ${KEY_PRESETS.join(', ')}`,
    },
    url: {
      type: 'string',
      takes: 'URL',
      help: 'the server (default: the local one, or PUBLIC_ORIGIN of the deployment)',
    },
    remote: { type: 'boolean', help: 'use the deployed database instead of the local one' },
  },
  notes: '--project and --key need a running server. Its API creates both, and the audit log names the user.',
} as const

await run(async () => {
  const { values } = readFlags(COMMAND)
  if (values.owner === undefined) misused(COMMAND, '--owner is missing')
  const parsed = z.email().max(254).safeParse(values.owner.trim().toLowerCase())
  if (!parsed.success) misused(COMMAND, `${JSON.stringify(values.owner)} is not an email address`)
  const email = parsed.data
  if (values.key !== undefined && values.project === undefined) misused(COMMAND, '--key needs --project')
  if (!KEY_PRESETS.includes(values.preset)) misused(COMMAND, `${JSON.stringify(values.preset)} is not a preset`)
  const target = values.remote ? remote() : 'local'
  if (target === 'local') await prepareLocal()

  const now = Date.now()
  const user = [newId('usr', now), email, now].map(literal).join(', ')
  const results = await execute(target, [
    `INSERT INTO users (id, email, created_at) VALUES (${user}) ON CONFLICT DO NOTHING`,
    `SELECT id, created_at FROM users WHERE email = ${literal(email)}`,
  ])
  const row = results.at(-1)?.[0]
  if (!row) fail(`The user was not created. Have the migrations been applied?`)
  const where = values.remote ? 'the deployed database' : 'the local database'
  console.log(`${email} is ${row.created_at === now ? 'now' : 'already'} a user of ${where}: ${row.id}`)
  if (values.project === undefined) {
    console.log(`
Next: sign in with this address (POST /auth/codes, then POST /auth/sessions) and create a project
(POST /platform/v1/projects). The creator of a project is its owner.`)
    return
  }
  const url = values.remote && values.url === undefined ? publicOrigin() : serverUrl(values.url)
  const wanted = {
    project: values.project,
    preset: values.preset,
    ...(values.key !== undefined && { key: values.key }),
  }
  const { project, isNew, key } = await makeFirstKey(target, url, String(row.id), wanted)
  console.log(`${values.project} is ${isNew ? 'now' : 'already'} a project: ${project}`)
  if (!key) return
  if (key.secret === null) {
    console.log(`${values.key} is already an API key of this project: ${key.id}. Its secret cannot be shown again.`)
    return
  }
  console.log(`${values.key} is now an API key of this project: ${key.id}

Store its secret now, because it is not shown again:

  ${key.secret}

curl ${url}/platform/v1/api-keys/self -H "Authorization: Bearer ${key.secret}" -H "X-Project-Id: ${project}"`)
})

function publicOrigin(): string {
  const { publicOrigin: origin } = ownOf(deployText() ?? '')
  if (origin === '') fail(`${DEPLOY_CONFIG} has no PUBLIC_ORIGIN. Say which server it is: --url https://…`)
  return origin
}

function remote(): Target {
  if (!existsSync(join(ROOT, DEPLOY_CONFIG))) {
    fail(`${DEPLOY_CONFIG} is missing. Run npm run deploy first: it writes this file with the id of the database.`)
  }
  return { config: DEPLOY_CONFIG }
}
