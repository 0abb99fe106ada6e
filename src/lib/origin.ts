/**
 * The origin that a text states, such as `https://api.example.com`; null if it is anything else. It must be https, and
 * have no path, query or user.
 */
export function originFrom(text: string): string | null {
  const url = URL.parse(text)
  return url?.protocol === 'https:' && url.href === `${url.origin}/` ? url.origin : null
}
