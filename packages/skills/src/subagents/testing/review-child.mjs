// What agent-b's `review-child.js` is, of the compiled package.
import { runReviewChild } from '@parley/skills/review-child';

await runReviewChild(process.env);
