//! Writes the seeds of each target into the folder of its corpus.

fn main() -> std::io::Result<()> {
    for (target, seeds) in headland_fuzz::seeds() {
        let folder = std::path::Path::new("corpus").join(target);
        std::fs::create_dir_all(&folder)?;
        for (number, seed) in seeds.iter().enumerate() {
            std::fs::write(folder.join(format!("seed_{number}")), seed)?;
        }
    }
    Ok(())
}
