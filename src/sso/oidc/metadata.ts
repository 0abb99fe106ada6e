import type { Runtime } from '../../env'

export async function discover(_rt: Runtime, _issuer: string): Promise<{ ok: boolean; detail: string | null }> {
  return { ok: false, detail: 'stub' }
}

export function issuerUrl(_rt: Pick<Runtime, 'settings'>, issuer: string): URL {
  return new URL(issuer)
}
