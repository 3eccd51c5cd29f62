/** Files by which schedulers of clusters run a recipe: Slurm's and Kubernetes'. */
@NullMarked
package dev.flotilla.app.cluster;

import org.jspecify.annotations.NullMarked;
