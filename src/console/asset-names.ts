// Made by scripts/assets.ts: where each asset of the console is served.
export const STYLE = '/assets/style-d9c12c38d0.css'
export const SCRIPT = '/assets/script-7b2458d69f.js'
export const ICON = '/assets/icon-1528e32439.svg'
export const REFERENCE_STYLE = '/assets/reference-style-9b70f81e81.css'
export const REFERENCE_SCRIPT = '/assets/reference-script-4494ff4cdb.js'
