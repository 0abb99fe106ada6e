/*
 * The hosts that stand for the internet in tests: providers, and whatever else the Worker fetches. They run in Node.js, behind
 * every fetch of the Worker. A handler answers for all names below its own (`a1b2.plain.dev`), and keeps what it knows by
 * the name, so that files that run side by side do not disturb each other.
 */

/** What tests have set for a host, the requests that it has received, and the codes and tokens that it has issued. */
export type Host = { name: string; settings: Record<string, unknown>; seen: Seen[]; issued: string[] }
/** `base64`: the bytes of the body. */
export type Seen = { method: string; url: string; headers: Record<string, string>; body: string; base64?: string }

/** Answers for a host. An error of its own reaches the Worker as a response 500. */
export type Handler = (request: Request, host: Host) => Response | Promise<Response>

const hosts = new Map<string, Host>()

export function hostOf(name: string): Host {
  const host = hosts.get(name) ?? { name, settings: {}, seen: [], issued: [] }
  hosts.set(name, host)
  return host
}

/** Notes the tokens of a token endpoint's response. */
export function noteTokens({ issued }: Host, body: string): void {
  const tokens = /"(?:access|id|refresh)_token" ?: ?"([^"]+)"/g
  issued.push(...[...body.matchAll(tokens)].map(([, token = '']) => token))
}
