import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { must } from '../../scripts/lib/api.ts'
import { ROOT } from '../../scripts/lib/paths.ts'
import { signIn } from '../../scripts/lib/sign-in.ts'
import { URL_OF_CONSOLE as ORIGIN } from './browser.ts'

/* Entitlement tokens of a real server, verified by jose in other processes: in this one, and in one that runs what the docs show. */

const API = `${ORIGIN}/platform/v1`
/** The first program about jose in the docs. */
const [, PROGRAM = ''] =
  /```js\n(import \{ createRemoteJWKSet.*?)```/s.exec(
    readFileSync(join(ROOT, 'docs/concepts/entitlements.md'), 'utf8'),
  ) ?? []

type Issued = { token: string }
let session: string
let project: string
let other: string
// Inside the project, so that Node.js finds jose.
const folder = mkdtempSync(join(ROOT, 'dist/tokens-'))

const newProject = async (name: string) => {
  const { id } = await must<{ id: string }>(`${API}/projects`, { token: session, json: { name } })
  await must(`${API}/consumers/ext:ada`, { method: 'PUT', token: session, project: id, json: {} })
  const feature = { name: 'Single sign-on', type: 'boolean' }
  await must(`${API}/billing/features/sso`, { method: 'PUT', token: session, project: id, json: feature })
  await must(`${API}/billing/plans`, { token: session, project: id, json: { key: 'pro', name: 'Pro' } })
  await must(`${API}/billing/grants`, { token: session, project: id, json: { consumer: 'ext:ada', feature: 'sso' } })
  return id
}
const issue = async (of = project) =>
  (await must<Issued>(`${API}/consumers/ext:ada/entitlements/token`, { token: session, project: of, json: {} })).token
const rotate = (json: object) => must(`${API}/billing/entitlement-keys/rotate`, { token: session, project, json })
const keysOf = (id: string) => createRemoteJWKSet(new URL(`${ORIGIN}/p/${id}/jwks.json`), { cooldownDuration: 0 })
const verifyWith = (keys: ReturnType<typeof keysOf>) => (token: string) =>
  jwtVerify(token, keys, { issuer: `${ORIGIN}/p/${project}`, audience: project, typ: 'entitlements+jwt' })

/** Runs the program of the docs in a process of its own. */
async function run(token: string): Promise<string> {
  const file = join(folder, 'verify.mjs')
  writeFileSync(file, PROGRAM)
  const env = { ...process.env, API_URL: ORIGIN, PROJECT_ID: project, TOKEN: token }
  return (await promisify(execFile)(process.execPath, [file], { env })).stdout.trim()
}

beforeAll(async () => {
  session = (await signIn(ORIGIN, 'tokens@example.com')).token
  project = await newProject('Tokens')
  other = await newProject('Other')
})
afterAll(() => rmSync(folder, { recursive: true }))

it('the program of the docs prints what is allowed, and refuses what is not ours', async () => {
  expect(PROGRAM.trim().split('\n')).toHaveLength(6) // with an empty line
  const token = await issue()
  expect(await run(token)).toBe('{ sso: true }')
  await expect(run(await issue(other))).rejects.toThrow(/ERR_JWKS_NO_MATCHING_KEY/)
  await expect(run(`${token.slice(0, -8)}AAAAAAAA`)).rejects.toThrow(/ERR_JWS_SIGNATURE_VERIFICATION_FAILED/)
})

it('a token of another project fails by its key, and by its audience', async () => {
  const token = await issue(other)
  await expect(verifyWith(keysOf(project))(token)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' })
  await expect(jwtVerify(token, keysOf(other), { audience: project })).rejects.toThrow(/aud/)
})

it('a rotation midway disturbs nobody; compromised keys end at once', async () => {
  const verify = verifyWith(keysOf(project))
  const before = await issue()
  await verify(before)
  await rotate({})
  const after = await issue()
  for (const token of [after, before]) expect((await verify(token)).payload.ent).toEqual({ sso: true })
  await rotate({ compromised: true })
  const fresh = verifyWith(keysOf(project))
  for (const token of [after, before]) await expect(fresh(token)).rejects.toThrow(/no applicable key/)
  await fresh(await issue())
})
