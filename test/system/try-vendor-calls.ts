import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { command } from '../../scripts/lib/command.ts'
import { ROOT } from '../../scripts/lib/paths.ts'
import { codeOf } from './try-guide.ts'

/** The vendors whose package has types: the package, what a guide's call takes from it, and how the guide names an instance. */
const CALLS: readonly [page: string, from: string, take: string, instance: string][] = [
  ['chargebee', 'chargebee', 'type Chargebee', 'chargebee: Chargebee'],
  ['gocardless', 'gocardless-nodejs', '{ type GoCardlessClient }', 'gocardless: GoCardlessClient'],
  ['lemon-squeezy', '@lemonsqueezy/lemonsqueezy.js', '{ createCheckout }', ''],
  ['paddle', '@paddle/paddle-node-sdk', '{ type Paddle }', 'paddle: Paddle'],
  ['polar', '@polar-sh/sdk', '{ type Polar }', 'polar: Polar'],
  ['square', 'square', '{ type SquareClient }', 'client: SquareClient'],
  ['stripe', 'stripe', 'type Stripe', 'stripe: Stripe'],
]
/** What the reader's own code has. */
const OWN =
  'declare const user: { id: string; email: string }, mandate: { id: string }, storeId: number, variantId: number, productId: string'

/**
 * Checks the calls to vendors in their guides against the types of the vendors' packages: to make them takes an account.
 *
 * @throws if a call would not compile, which names its page
 */
export async function tryVendorCalls(folder: string): Promise<string> {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  for (const name of ['@types/node', ...CALLS.map(([, from]) => from)]) {
    const at = join(folder, 'node_modules', name)
    mkdirSync(dirname(at), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), at)
  }
  for (const [page, from, take, instance] of CALLS) {
    const code = codeOf(readFileSync(join(ROOT, `docs/guides/from-${page}.md`), 'utf8'), 'js')
    const lines = [`import ${take} from '${from}'`, OWN, `export async function call(${instance}) {`, code, '}', '']
    writeFileSync(join(folder, `${page}.ts`), lines.join('\n'))
  }
  const strict = [
    '--strict',
    '--noEmit',
    '--skipLibCheck',
    '--target',
    'es2024',
    '--module',
    'nodenext',
    '--types',
    'node',
  ]
  const files = CALLS.map(([page]) => `${page}.ts`)
  await command(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), ...strict, ...files], { cwd: folder })
  return `the calls to ${CALLS.length} vendors fit the types of their packages`
}
