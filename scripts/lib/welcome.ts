/** What npm start prints once the server answers. Its lines work as they are pasted, in sh, bash and zsh. */
export function welcome(url: string): string {
  const json = `-H 'Content-Type: application/json'`
  const field = (name: string) => `| sed -E 's/.*"${name}":"([^"]+)".*/\\1/'`
  return `
  Ready: ${url}          API description: ${url}/openapi.json

  The console: ${url}/console   (any address signs in; its code is printed here)

  In another terminal, npm run demo shows it all at work. Or step by step:

  1. Ask for a sign-in code. It is printed here, with a line to paste that puts your session into $TOKEN.

curl -s ${url}/auth/codes ${json} -d '{"email":"you@example.com"}'

  2. With $TOKEN set, make a project, mint an API key in it, and use the key:

PROJECT=$(curl -s ${url}/platform/v1/projects -H "Authorization: Bearer $TOKEN" ${json} -d '{"name":"First"}' ${field('id')})
KEY=$(curl -s ${url}/platform/v1/api-keys -H "Authorization: Bearer $TOKEN" -H "X-Project-Id: $PROJECT" ${json} -d '{"name":"first key"}' ${field('secret')})
curl -s ${url}/platform/v1/api-keys -H "Authorization: Bearer $KEY" -H "X-Project-Id: $PROJECT"

  3. Send a folder of a vendor's events, signed as the vendor signs: npm run send -- FOLDER --vendor stripe

  Ctrl-C stops the server; its data stay in .wrangler/state.
`
}
