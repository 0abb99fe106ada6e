ALTER TABLE `plan_refs` ADD `lasts` text;--> statement-breakpoint
ALTER TABLE `plan_refs` ADD `again` text;--> statement-breakpoint
CREATE INDEX `plan_refs_lasting` ON `plan_refs` (`project_id`) WHERE lasts IS NOT NULL;