import { runReviewChild } from '@parley/skills/review-child';

await runReviewChild(process.env);
