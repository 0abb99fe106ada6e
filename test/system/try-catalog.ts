import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '../../scripts/lib/api.ts'
import { ROOT } from '../../scripts/lib/paths.ts'
import { localSession } from '../../scripts/lib/sign-in.ts'
import { newProject } from './new-project.ts'

const SCOPES = ['catalog:read', 'catalog:write', 'projects:write']
type Plan = { name: string; features: Record<string, object>; prices: { vendor: string; ref: string }[] }
type File = {
  versions?: Record<string, string>
  features: Record<string, object>
  plans: Record<string, Plan>
  settings?: Record<string, unknown>
}

/**
 * Keeps the catalogs of two projects in a file with npm run catalog: 100 plans and 200 features.
 *
 * @returns what is printed about it
 * @throws if a command exits with another code than it says, or the catalog is not what was pushed
 */
export async function tryCatalog(url: string, folder: string): Promise<string> {
  const { token } = await localSession(url)
  const test = await newProject(url, token, 'Catalog', SCOPES)
  const live = await newProject(url, token, 'Live', SCOPES)
  const path = join(folder, 'catalog.json')
  const edit = (change: (file: File) => void) => {
    const file = JSON.parse(readFileSync(path, 'utf8')) as File
    change(file)
    writeFileSync(path, JSON.stringify(file, null, 2))
  }
  const calls = { url, token, path }
  const run = (...args: string[]) => catalog({ ...calls, ...test }, args)
  const toLive = (...args: string[]) => catalog({ ...calls, ...live }, args)
  const plan = (file: File, key: string) => file.plans[key] as Plan

  await expect(run('pull'), 0, 'has 0 features and 0 plans')
  edit((file) => Object.assign(file, large()))
  await expect(run('diff'), 2, '+ plan plan_99 gives feature_199: 99 per seat')
  await expect(run('push'), 0, 'Pushed')
  await expect(run('push'), 0, 'Nothing to change')
  await expect(run('pull', '--force'), 0, 'has 200 features and 100 plans')
  await expect(run('diff'), 0, 'Nothing to change')

  // A conflict: somebody changes the catalog after the pull.
  const listed = await must<{ data: { id: string; key: string }[] }>(`${url}/platform/v1/billing/plans?limit=2`, {
    token,
    project: test.project,
  })
  const changed = listed.data.find(({ key }) => key !== 'plan_0')
  const patch = { method: 'PATCH', token, project: test.project, json: { name: 'Theirs' } } as const
  await must(`${url}/platform/v1/billing/plans/${changed?.id}`, patch)
  edit((file) => Object.assign(plan(file, 'plan_0'), { name: 'Mine' }))
  await expect(run('push'), 3, 'has changed since the file was pulled')
  await expect(run('pull'), 1, 'differs from the catalog')
  await expect(run('push', '--force'), 0, '~ plan plan_0 name: Plan 0 → Mine')

  // A loss: a consumer has the plan by a grant.
  const grant = { consumer: 'ext:ada', plan: 'plan_7' }
  await must(`${url}/platform/v1/consumers/ext:ada`, { method: 'PUT', token, project: test.project, json: {} })
  await must(`${url}/platform/v1/billing/grants`, { token, project: test.project, json: grant })
  edit((file) => delete plan(file, 'plan_7').features.feature_50)
  await expect(run('push'), 4, 'feature_50  0  1  0')
  await expect(run('diff'), 2, '- plan plan_7 gives feature_50: 7 per seat')
  await expect(run('push', '--accept-losses'), 0, 'Pushed')

  // The same file for a project with other prices.
  const map = join(folder, 'prices.json')
  const prices = Object.values((JSON.parse(readFileSync(path, 'utf8')) as File).plans).flatMap((one) => one.prices)
  writeFileSync(map, JSON.stringify(Object.fromEntries(prices.slice(1).map(({ ref }) => [ref, `live_${ref}`]))))
  await expect(toLive('diff', '--prices', map), 1, 'The map has no entry for: price_0')
  writeFileSync(map, JSON.stringify(Object.fromEntries(prices.map(({ ref }) => [ref, `live_${ref}`]))))
  await expect(toLive('push', '--prices', map), 3, 'was never pulled from this project')
  await expect(toLive('push', '--prices', map, '--force'), 0, '~ setting default_plan: null → "plan_0"')
  await expect(toLive('push', '--prices', map), 0, 'Nothing to change')
  await expect(run('push'), 0, 'Nothing to change')

  // What the API refuses is named, and nothing is written.
  edit((file) => delete file.features.feature_3)
  await expect(run('push'), 1, '/plans/plan_0/features/feature_3 is not in the features of the document')
  return '100 plans and 200 features pulled, pushed and moved to another project; a conflict and a loss refused'
}

function large(): File {
  const keys = Array.from({ length: 200 }, (_, n) => `feature_${n}`)
  const plans = Array.from({ length: 100 }, (_, n) => {
    const given = keys.slice(n + 1, n + 101).map((key) => [key, { value: n, per_seat: true }])
    return [
      `plan_${n}`,
      { name: `Plan ${n}`, features: Object.fromEntries(given), prices: [{ vendor: 'stripe', ref: `price_${n}` }] },
    ]
  })
  return {
    features: Object.fromEntries(keys.map((key) => [key, { name: key, type: 'quantity' }])),
    plans: Object.fromEntries(plans),
    settings: { default_plan: 'plan_0' },
  }
}

type Ended = { code: number | null; said: string; args: string[] }

async function catalog(
  of: { url: string; path: string; project: string; key: string },
  args: string[],
): Promise<Ended> {
  const script = [join(ROOT, 'scripts/run.js'), 'client/catalog.ts']
  const all = [...script, ...args, '--url', of.url, '--project', of.project, '--from', of.path]
  const child = spawn(process.execPath, all, { cwd: ROOT, env: { ...process.env, API_KEY: of.key }, stdio: 'pipe' })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  }
  const [code] = await once(child, 'close')
  return { code, said, args }
}

async function expect(run: Promise<Ended>, code: number, words: string): Promise<void> {
  const { code: was, said, args } = await run
  const plain = said.replaceAll(/ +/g, ' ')
  if (was === code && plain.includes(words.replaceAll(/ +/g, ' '))) return
  throw new Error(`catalog ${args.join(' ')} ended with ${was} and did not say "${words}":\n${said.slice(-3000)}`)
}
